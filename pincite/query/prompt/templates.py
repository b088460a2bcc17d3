"""Prompt templates: shipped files, which files of the same name in the data folder override."""

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
        "default/system": "sources boundary",
        "default/source": "number text",
        "default/user": "question",
        "five-stage/system": "sources boundary",
        "five-stage/source": "text",
        "five-stage/user": "question",
        "local/source": "text",
        "local/user": "question sources boundary",
        "answer/factual": "",
        "answer/summary": "",
        "answer/comparison": "",
        "answer/list": "",
        "answer/analytical": "",
        "quote-first": "",
        "think-first": "",
        "suggest": "",
        "rewrite": "conversation question",
        "expand/variations": "question",
        "expand/hyde": "question",
        "expand/step-back": "question",
        "talk": "",
        "verify": "question passages",
        "judge": "claims",
        "general": "",
        "agent/system": "boundary",
        "agent/writing": "boundary",
        "agent/plain": "",
        "agent/source": "boundary number text",
        "agent/last": "question",
    }.items()
}
"""The required placeholders of every prompt, by its name."""

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_MAX_PROMPT_BYTES = 100_000


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt with placeholders, `{name}`; `custom` says that it comes from the data folder."""

    name: str
    text: str
    custom: bool = False

    def fill(self, **values: str) -> str:
        """The text with its placeholders replaced in one pass, so that braces in the values are kept.

        Invisible characters are removed from the values: a model would read them.
        """
        return _PLACEHOLDER.sub(lambda match: visible(values.get(match[1], match[0])), self.text)


@dataclass(frozen=True, slots=True)
class Prompts:
    """The prompts of one request; `note` receives the reason where a custom prompt cannot be used."""

    data: Path
    note: Callable[[str], None]

    @classmethod
    def of(cls, run: Run) -> "Prompts":
        """The prompts of a run; errors in custom prompts are reported as degradations."""
        return cls(run.settings.data, lambda reason: run.degrade("prompts", reason))

    def get(self, name: str) -> Template:
        """The prompt of this name; for an invalid custom file, its last valid version or the shipped prompt."""
        try:
            return template(name, self.data)
        except (SettingsError, OSError) as error:
            last_valid = _LAST_VALID.get(_custom_path(name, self.data))
            reason = str(error).replace(f"{self.data}/", "")  # the path of the data folder is not public
            self.note(
                f"{reason}; until then {'its last valid version' if last_valid else 'the shipped prompt'} is used"
            )
            return last_valid or _shipped(name)


_LAST_VALID: dict[Path, Template] = {}
"""The last valid version of each custom prompt; no larger than the number of prompts."""


def template(name: str, data: Path | None = None) -> Template:
    """The prompt of this name: from the data folder if it is there, else the shipped one."""
    custom = _custom_path(name, data) if data is not None else None
    if custom is not None and custom.is_file():
        stat = custom.stat()
        return _custom(name, custom, stat.st_mtime_ns, stat.st_size)
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
    """A custom prompt, validated; time and size are part of the cache key, so a changed file is read again."""
    if size > _MAX_PROMPT_BYTES:
        raise SettingsError(f"{path} has {size} bytes; a prompt may have at most {_MAX_PROMPT_BYTES}")
    try:
        text = path.read_text(encoding="utf-8").rstrip("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from error
    missing = REQUIRED_PLACEHOLDERS[name] - set(_PLACEHOLDER.findall(text))
    if missing:
        needs = ", ".join(f"{{{place}}}" for place in sorted(missing))
        raise SettingsError(f"{path} lacks {needs}; add it, or remove the file to use the shipped prompt")
    _LAST_VALID[path] = Template(name, text, custom=True)
    return _LAST_VALID[path]


def custom_prompts(data: Path) -> tuple[tuple[str, int, int], ...]:
    """Name, time and size of every custom prompt; part of the cache key, since prompts change the answers."""
    if not (data / "prompts").is_dir():
        return ()
    paths = ((name, _custom_path(name, data)) for name in REQUIRED_PLACEHOLDERS)
    stats = ((name, path.stat()) for name, path in paths if path.is_file())
    return tuple((name, stat.st_mtime_ns, stat.st_size) for name, stat in stats)


def check_custom_prompts(data: Path) -> None:
    """Raise `SettingsError` for invalid or unknown prompts in the data folder; called at the start."""
    folder = data / "prompts"
    for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
        if path.is_dir() or path.name.startswith(".") or path.name.endswith("~"):
            continue
        name = path.relative_to(folder).as_posix().removesuffix(".txt")
        if name not in REQUIRED_PLACEHOLDERS or path.suffix != ".txt":
            raise SettingsError(
                f"{path} is not a prompt; there are: {', '.join(f'{known}.txt' for known in REQUIRED_PLACEHOLDERS)}"
            )
        template(name, data)
