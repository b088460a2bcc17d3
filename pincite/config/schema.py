"""The catalogue of settings: description, allowed values, when a change takes effect, and who may change it."""

import json
import re
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from pincite.config.settings import ALIASES, Settings, environment_name, iter_fields
from pincite.text.sentences import without_login

Acts = Literal["query", "index", "start"]
"""When a change takes effect: on the next request, when a document is indexed, or when a process starts."""

ACTS: Mapping[str, Acts] = {
    "data": "start",
    "database": "start",
    "server": "start",
    "oidc": "start",
    "embedding": "index",
    "embedding.api_key": "query",
    "embedding.timeout_s": "query",
    "embedding.batch": "query",
    "embedding.threads": "query",
    "chunking": "index",
    "enrichment": "index",
    "traces.otlp_endpoint": "start",
    "logs": "start",
    "ingest.workers": "start",
    "ingest.parse_memory_mb": "start",
    "ingest.parse_timeout_s": "start",
}
"""When a change of a branch or key takes effect; the longer name wins. All others: on the next request."""

LOCAL_ONLY = frozenset(
    {"embedding.path", "embedding.allow_download", "rerank.path", "llm.path", "web.enabled", "web.allow_hosts"}
)
"""Settings that only the environment or the settings file may set, besides secrets and settings read at start."""

OWNER_ONLY = frozenset({"access.administrators_read"})
"""Likewise, settings that administrators may not change for themselves."""

NAMES_A_PROVIDER = re.compile(r"(^|\.)(provider|reranker)$")
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Key:
    """One setting: its dotted name, type, limits and default."""

    name: str
    description: str
    kind: str
    default: Any
    low: float | None
    high: float | None
    above_low: bool
    choices: tuple[str, ...]
    acts: Acts
    secret: bool

    @property
    def environment(self) -> str:
        """Its environment variable."""
        return environment_name(self.name)

    @property
    def aliases(self) -> tuple[str, ...]:
        """Environment variables of other systems that also set it."""
        return tuple(alias for alias, key in ALIASES.items() if key == self.name)

    @property
    def fixed(self) -> str:
        """The reason why it cannot be changed while pincite runs; empty if it can."""
        where = f"set {self.environment} in the environment, or {self.name} in the settings file"
        if self.secret:
            return f"'{self.name}' is a secret, and secrets are never stored in the database; {where}"
        if self.acts == "start":
            return f"'{self.name}' is read only when a process starts; {where}, and restart it"
        if self.name in LOCAL_ONLY:
            return (
                f"'{self.name}' gives access to files or hosts outside the library and is fixed while it runs; {where}"
            )
        if self.name in OWNER_ONLY:
            return f"'{self.name}' may be changed by the owner of this machine only, not by administrators; {where}"
        return ""

    @property
    def allowed(self) -> str:
        """A description of the allowed values."""
        if self.choices:
            return " or ".join(f"'{choice}'" for choice in self.choices)
        words, low, high = _KINDS[self.kind], _number(self.low), _number(self.high)
        if self.above_low:
            return f"{words} over {low}" + (f", at most {high}" if high else "")
        if low and high:
            return f"{words} from {low} to {high}"
        return f"{words}, at least {low}" if low else words


_KINDS = {
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "list": "a list of texts (on the command line separated by commas)",
    "table": "a table of texts (on the command line as JSON)",
    "text": "text",
}


def _number(limit: float | None) -> str:
    return "" if limit is None else f"{limit:.0f}" if limit == int(limit) else f"{limit:g}"


@cache
def catalogue() -> Mapping[str, Key]:
    """Every setting by name, in the order of the tree."""
    return {name: _key(name, field) for name, field in iter_fields()}


def find(name: str) -> Key | None:
    """Return the setting of this name, or None."""
    return catalogue().get(name)


def value_of(settings: Settings, name: str) -> Any:
    """Return a setting's value as plain JSON; a secret is always None."""
    return _plain(_getter(name)(settings))


@cache
def _getter(name: str) -> Callable[[Settings], Any]:
    return attrgetter(name)


def _plain(value: Any) -> Any:
    if isinstance(value, SecretStr):
        return None
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, tuple | list):
        return list(value)
    if isinstance(value, Mapping):
        return dict(value)
    return value


def is_set(settings: Settings, name: str) -> bool:
    """Whether a secret is set; its value is never shown."""
    value: Any = settings
    for part in name.split("."):
        value = getattr(value, part)
    return value is not None


def without_password(value: Any) -> Any:
    """Return a value for display: URLs without user name and password."""
    return without_login(value) if isinstance(value, str) else value


def parse_value(key: Key, value: Any) -> Any:
    """Parse the value given for a setting; in text, lists are comma-separated and tables are JSON."""
    if isinstance(value, str) and key.kind == "list":
        value = tuple(part for part in (part.strip() for part in value.split(",")) if part)
    elif isinstance(value, str) and key.kind == "table":
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise ValueError('must be JSON such as {"hr": "Human resources"}') from None
    if any(_UNSTORABLE.search(text) for text in _texts(value)):
        raise ValueError("must not hold characters that cannot be stored")
    if isinstance(value, bool) and key.kind != "boolean":
        raise ValueError(f"must be {key.allowed}")
    return value


def _texts(value: Any) -> Iterator[str]:
    """The strings in a value, one level deep; no setting is nested deeper."""
    parts = [*value, *value.values()] if isinstance(value, Mapping) else value
    yield from (part for part in (parts if isinstance(parts, list | tuple) else [parts]) if isinstance(part, str))


def _key(name: str, field: FieldInfo) -> Key:
    bare, inner = _bare(field.annotation)
    rules = [*field.metadata, *inner]
    limits = {limit: getattr(rule, limit) for rule in rules for limit in ("ge", "gt", "le") if hasattr(rule, limit)}
    return Key(
        name=name,
        description=field.description or "",
        kind=_kind(bare),
        default=_plain(field.get_default(call_default_factory=True)),
        low=limits.get("ge", limits.get("gt")),
        high=limits.get("le"),
        above_low="gt" in limits,
        choices=get_args(bare) if get_origin(bare) is Literal else (),
        acts=_acts(name),
        secret=bare is SecretStr,
    )


def _acts(name: str) -> Acts:
    fitting = [prefix for prefix in ACTS if name == prefix or name.startswith(f"{prefix}.")]
    return ACTS[max(fitting, key=len)] if fitting else "query"


def _bare(annotation: Any) -> tuple[Any, list[Any]]:
    """Return the type without `None`, and its validation metadata."""
    if get_origin(annotation) in (Union, types.UnionType):
        annotation = next(part for part in get_args(annotation) if part is not type(None))
    if get_origin(annotation) is Annotated:
        bare, *notes = get_args(annotation)
        return bare, [rule for note in notes for rule in getattr(note, "metadata", [note])]
    return annotation, []


def _kind(bare: Any) -> str:
    if bare is bool:
        return "boolean"
    if bare is int:
        return "integer"
    if bare is float:
        return "number"
    origin = get_origin(bare)
    if origin in (tuple, list):
        return "list"
    return "table" if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping) else "text"
