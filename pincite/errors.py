"""Every error pincite raises on purpose.

PinciteError
├── BadRequest             the caller can fix it                        400
│   ├── Unauthorized       no key, or one that does not count           401
│   ├── NotAllowed         known, but may not                           403
│   ├── NotFound           not there, or not for this caller            404
│   ├── Conflict           clashes with what is there                   409
│   │   ├── Cancelled        ended before its answer, as was asked for  409
│   │   └── OverQuota        what one may keep here is used up          409
│   ├── TooLarge           over a size limit                            413
│   ├── Unsupported        a file type we do not read                   415
│   └── Invalid            well-formed, but the values cannot work      422
├── Unreadable             a file that cannot be parsed                 422
├── OverBudget             the deadline or a rate limit was reached     429
├── Unavailable            a part is down; the pipeline may degrade     503
│   ├── ProviderError      an outside model or service failed           502
│   │   ├── ProviderBusy     for the moment: another try may work       502
│   │   └── ProviderRefused  until a setting or the request changes     502
│   ├── StoreDown          the database cannot be reached               503
│   ├── Stopping           the server was told to stop                  503
│   └── Overloaded         more is in hand than can be done             503
├── DataFolderError        the data folder cannot be used               500
└── SettingsError          wrong at start-up; never at run time         500
"""

from collections.abc import Mapping


class PinciteError(Exception):
    """Base: catch this and you have caught everything pincite raises on purpose."""

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
    """No credentials, or ones that do not count."""

    status, code, title = 401, "unauthorized", "A valid key is needed"


class NotAllowed(BadRequest):
    """The caller is known but may not do this."""

    status, code, title = 403, "not_allowed", "Not allowed"


class NotFound(BadRequest):
    """Not there, or not for this caller: the two look the same."""

    status, code, title, exit_code = 404, "not_found", "Not found", 1


class Conflict(BadRequest):
    """Clashes with what is there."""

    status, code, title, exit_code = 409, "conflict", "In conflict with what is there", 1


class Cancelled(Conflict):
    """Ended before its answer: somebody cancelled it, or nobody listened any more."""

    code, title = "cancelled", "Cancelled"


class OverQuota(Conflict):
    """What somebody may keep here is used up: something must go, or more be allowed."""

    code, title = "over_quota", "No room left"


class TooLarge(BadRequest):
    """Over a size limit."""

    status, code, title = 413, "too_large", "Too large"


class Unsupported(BadRequest):
    """A file type that is not read here, or bytes that are not what the name says."""

    status, code, title = 415, "unsupported", "Unsupported file"


class Invalid(BadRequest):
    """Well-formed, but the values cannot work."""

    status, code, title = 422, "invalid", "Invalid value"


class Unreadable(PinciteError):
    """A file that cannot be parsed; becomes the document's status `error` with this reason."""

    status, code, title = 422, "unreadable", "The file cannot be read"


class OverBudget(PinciteError):
    """The deadline or a rate limit was reached; `retry_after_s` is when it is worth another try."""

    status, code, title = 429, "over_budget", "No time or budget left"

    def __init__(self, message: str, *, code: str | None = None, retry_after_s: float | None = None) -> None:
        super().__init__(message, code=code)
        self.retry_after_s = retry_after_s


class Unavailable(PinciteError):
    """A part is down: the only error that `Run.attempt` degrades on."""

    status, code, title = 503, "unavailable", "A part is unavailable"


class ProviderError(Unavailable):
    """An outside model or service failed."""

    status, code, title = 502, "provider_error", "A provider failed"


class ProviderBusy(ProviderError):
    """Out of reach or overloaded for the moment; `retry_after_s` is how long the service asks to wait."""

    code, title = "provider_busy", "A provider is busy or cannot be reached"

    def __init__(self, message: str, *, code: str | None = None, retry_after_s: float | None = None) -> None:
        super().__init__(message, code=code)
        self.retry_after_s = retry_after_s


class ProviderRefused(ProviderError):
    """A wrong key, no such model, no credit left, a request it does not take: another try would fail too."""

    code, title = "provider_refused", "A provider refused the request"


PROVIDERS_FAILED: Mapping[str, type[ProviderError]] = {
    "timeout": ProviderError,
    "breaker_open": ProviderError,
    "provider_unreachable": ProviderBusy,
    **{kind.code: kind for kind in (ProviderError, ProviderBusy, ProviderRefused)},
}
"""The codes that a provider's failure is written down with, and the error each stands for."""


class StoreDown(Unavailable):
    """The database cannot be reached."""

    status, code, title = 503, "store_down", "The database cannot be reached"


class Stopping(Unavailable):
    """The server was told to stop."""

    code, title = "stopping", "The server is stopping"


class Overloaded(Unavailable):
    """More is in hand than can be done soon: refused at once rather than kept waiting."""

    code, title = "overloaded", "The server has too much to do"
    retry_after_s = 1.0


class DataFolderError(PinciteError):
    """The data folder cannot be used."""

    code, title = "data_folder", "The data folder cannot be used"


class SettingsError(PinciteError):
    """The settings cannot work; raised at start-up only."""

    code, title, exit_code = "settings", "The settings cannot work", 2
