"""The errors that pincite raises on purpose, with their HTTP status codes.

PinciteError
├── BadRequest             the caller can fix the request               400
│   ├── Unauthorized       the API key is missing or invalid            401
│   ├── NotAllowed         the caller lacks the permission              403
│   ├── NotFound           missing, or hidden from the caller           404
│   ├── Conflict           the request conflicts with the current state 409
│   │   ├── Cancelled        the request was cancelled                  409
│   │   └── OverQuota        the storage quota is used up               409
│   ├── TooLarge           a size limit is exceeded                     413
│   ├── Unsupported        there is no parser for the file type         415
│   └── Invalid            well-formed, but with an invalid value       422
├── Unreadable             the file cannot be parsed                    422
├── OverBudget             a deadline or a rate limit was reached       429
├── Unavailable            a component is down; stages may degrade      503
│   ├── ProviderError      an external model or service failed          502
│   │   ├── ProviderBusy     temporarily: a retry may succeed           502
│   │   └── ProviderRefused  a retry fails too                          502
│   ├── StoreDown          the database cannot be reached               503
│   │   └── StoreReadOnly    the database accepts no writes             503
│   ├── Stopping           the server is shutting down                  503
│   └── Overloaded         the queue of requests is full                503
├── DataFolderError        the data folder cannot be used               500
└── SettingsError          invalid settings; raised at start-up only    500
"""

from collections.abc import Mapping


class PinciteError(Exception):
    """The base class of all errors that pincite raises on purpose."""

    status = 500
    code = "error"
    title = "Something failed"
    exit_code = 1

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.code = code or type(self).code


class BadRequest(PinciteError):
    """The caller can fix this by changing the request."""

    status, code, title, exit_code = 400, "bad_request", "The request cannot be understood", 2


class Unauthorized(BadRequest):
    """The credentials are missing or invalid."""

    status, code, title = 401, "unauthorized", "A valid key is needed"


class NotAllowed(BadRequest):
    """The caller is authenticated but lacks the permission."""

    status, code, title = 403, "not_allowed", "Not allowed"


class NotFound(BadRequest):
    """The object does not exist, or the caller may not see it; the error does not tell which."""

    status, code, title, exit_code = 404, "not_found", "Not found", 1


class Conflict(BadRequest):
    """The request conflicts with the current state."""

    status, code, title, exit_code = 409, "conflict", "In conflict with the current state", 1


class Cancelled(Conflict):
    """The request was cancelled, or its client disconnected, before the answer was complete."""

    code, title = "cancelled", "Cancelled"


class OverQuota(Conflict):
    """The user's storage quota is used up: remove documents or raise the limit."""

    code, title = "over_quota", "The quota is used up"


class TooLarge(BadRequest):
    """A size limit is exceeded."""

    status, code, title = 413, "too_large", "Too large"


class Unsupported(BadRequest):
    """There is no parser for the file type, or the content does not match the file name."""

    status, code, title = 415, "unsupported", "Unsupported file"


class Invalid(BadRequest):
    """The request is well-formed but holds an invalid value."""

    status, code, title = 422, "invalid", "Invalid value"


class Unreadable(PinciteError):
    """The file cannot be parsed; its document gets the status `error` with this message."""

    status, code, title = 422, "unreadable", "The file cannot be read"


class OverBudget(PinciteError):
    """A deadline or a rate limit was reached; `retry_after_s` is the number of seconds to wait before a retry."""

    status, code, title = 429, "over_budget", "No time or budget left"

    def __init__(self, message: str, *, code: str | None = None, retry_after_s: float | None = None) -> None:
        super().__init__(message, code=code)
        self.retry_after_s = retry_after_s


class Unavailable(PinciteError):
    """A component is down. `Run.attempt` catches this error, and no other, to degrade."""

    status, code, title = 503, "unavailable", "A part is unavailable"


class ProviderError(Unavailable):
    """An external model or service failed."""

    status, code, title = 502, "provider_error", "A provider failed"


class ProviderBusy(ProviderError):
    """The service is temporarily unreachable or overloaded; `retry_after_s` is the wait it asks for, in seconds."""

    code, title = "provider_busy", "A provider is busy or cannot be reached"

    def __init__(self, message: str, *, code: str | None = None, retry_after_s: float | None = None) -> None:
        super().__init__(message, code=code)
        self.retry_after_s = retry_after_s


class ProviderRefused(ProviderError):
    """The service rejects the request: wrong key, unknown model, no credit, invalid request. A retry would fail too."""

    code, title = "provider_refused", "A provider refused the request"


PROVIDER_ERRORS: Mapping[str, type[ProviderError]] = {
    "timeout": ProviderError,
    "breaker_open": ProviderError,
    "provider_unreachable": ProviderBusy,
    **{kind.code: kind for kind in (ProviderError, ProviderBusy, ProviderRefused)},
}
"""The stored codes of provider failures, and the error class of each."""


class StoreDown(Unavailable):
    """The database cannot be reached."""

    status, code, title = 503, "store_down", "The database cannot be reached"


class StoreReadOnly(StoreDown):
    """The database answers, but is a replica or otherwise read-only."""

    code, title = "store_read_only", "The database is read-only at present"


class Stopping(Unavailable):
    """The server is shutting down."""

    code, title = "stopping", "The server is stopping"


class Overloaded(Unavailable):
    """The server has too many requests; it rejects this one at once instead of queueing it."""

    code, title = "overloaded", "The server is overloaded"
    retry_after_s = 1.0


class DataFolderError(PinciteError):
    """The data folder cannot be used."""

    code, title = "data_folder", "The data folder cannot be used"


class SettingsError(PinciteError):
    """The settings are invalid; raised at start-up only."""

    code, title, exit_code = "settings", "The settings cannot work", 2
