"""The prompts: files one can read, and override with files of the same name in the data folder."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path

from pincite.core.run import Run
from pincite.errors import SettingsError
from pincite.text.invisible import visible

REQUIRED_PLACEHOLDERS: Mapping[str, frozenset[str]] = {
    name: frozenset(needs.split())
    for name, needs in {
        "default/system": "sources boundary", "default/source": "number text", "default/user": "question",
        "five-stage/system": "sources boundary", "five-stage/source": "text", "five-stage/user": "question",
        "local/source": "text", "local/user": "question sources boundary",
        "answer/factual": "", "answer/summary": "", "answer/comparison": "", "answer/list": "", "answer/analytical": "",
        "quote-first": "", "think-first": "", "rewrite": "conversation question",
        "expand/variations": "question", "expand/hyde": "question", "expand/step-back": "question", "talk": "",
        "verify": "question passages", "judge": "claims",
        "general": "", "agent/system": "boundary", "agent/plain": "", "agent/source": "boundary number text", "agent/last": "question",
    }.items()
}  # fmt: skip
"""Every prompt by its name, and the placeholders it cannot do without."""

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_MAX_PROMPT_BYTES = 100_000


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt with places to fill: `{name}`."""

    name: str
    text: str
    own: bool = False

    def fill(self, **values: str) -> str:
        """The text with its places filled, once: what is put in is never looked at again, so braces in it stay.

        Characters that nobody sees are left out of what is put in: a model would read them.
        """
        return _PLACEHOLDER.sub(lambda match: visible(values.get(match[1], match[0])), self.text)


@dataclass(frozen=True, slots=True)
class Prompts:
    """The prompts of one request; `note` is told of one's own that can no longer be used."""

    data: Path
    note: Callable[[str], None]

    @classmethod
    def of(cls, run: Run) -> "Prompts":
        """Those in the data folder first; what is wrong with them is in the answer."""
        return cls(run.settings.data, lambda reason: run.degrade("prompts", reason))

    def get(self, name: str) -> Template:
        """The prompt of this name; where one's own was spoilt since the start, the last good one or the shipped one."""
        try:
            return template(name, self.data)
        except (SettingsError, OSError) as error:
            good = _LAST_GOOD.get(_custom_path(name, self.data))
            wrong = str(error).replace(f"{self.data}/", "")  # where the data lies is not for every reader
            self.note(f"{wrong}; until then {'its last good version' if good else 'the shipped prompt'} is used")
            return good or _shipped(name)


_LAST_GOOD: dict[Path, Template] = {}
"""One's own prompts as they were when last read well: as many as there are prompts."""


def template(name: str, data: Path | None = None) -> Template:
    """The prompt of this name: the one in the data folder if there is one, else the shipped one."""
    own = _custom_path(name, data) if data is not None else None
    if own is not None and own.is_file():
        stamp = own.stat()
        return _custom(name, own, stamp.st_mtime_ns, stamp.st_size)
    return _shipped(name)


def _custom_path(name: str, data: Path) -> Path:
    return data / "prompts" / f"{name}.txt"


@lru_cache(maxsize=64)
def _shipped(name: str) -> Template:
    if name not in REQUIRED_PLACEHOLDERS:
        raise SettingsError(f"there is no prompt '{name}'; there are: {', '.join(REQUIRED_PLACEHOLDERS)}")
    file = resources.files("pincite.query.prompt") / "templates" / f"{name}.txt"
    return Template(name, file.read_text(encoding="utf-8").rstrip("\n"))


@lru_cache(maxsize=64)
def _custom(name: str, path: Path, _changed_ns: int, size: int) -> Template:
    """Read again whenever the file changes."""
    if size > _MAX_PROMPT_BYTES:
        raise SettingsError(f"{path} has {size} bytes; a prompt may have {_MAX_PROMPT_BYTES}")
    try:
        text = path.read_text(encoding="utf-8").rstrip("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from error
    missing = REQUIRED_PLACEHOLDERS[name] - set(_PLACEHOLDER.findall(text))
    if missing:
        needs = ", ".join(f"{{{place}}}" for place in sorted(missing))
        raise SettingsError(f"{path} lacks {needs}; put it in, or remove the file to use the shipped prompt")
    _LAST_GOOD[path] = Template(name, text, own=True)
    return _LAST_GOOD[path]


def custom_prompts(data: Path) -> tuple[tuple[str, int, int], ...]:
    """Which prompts are one's own, and in which state: another one means that the same question is put otherwise."""
    if not (data / "prompts").is_dir():
        return ()
    found = ((name, _custom_path(name, data)) for name in REQUIRED_PLACEHOLDERS)
    stamps = ((name, path.stat()) for name, path in found if path.is_file())
    return tuple((name, stamp.st_mtime_ns, stamp.st_size) for name, stamp in stamps)


def check_custom_prompts(data: Path) -> None:
    """Refuse prompts in the data folder that cannot work or that nothing asks for; called at the start."""
    folder = data / "prompts"
    for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
        if path.is_dir() or path.name.startswith(".") or path.name.endswith("~"):
            continue
        name = path.relative_to(folder).as_posix().removesuffix(".txt")
        if name not in REQUIRED_PLACEHOLDERS or path.suffix != ".txt":
            raise SettingsError(
                f"{path} is no prompt; there are: {', '.join(f'{known}.txt' for known in REQUIRED_PLACEHOLDERS)}"
            )
        template(name, data)
