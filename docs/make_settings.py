"""Writes docs/settings.md and settings.example.toml from the settings themselves: `python docs/make_settings.py`."""

import json
from pathlib import Path
from typing import Any

from pincite.config.profiles import profiles
from pincite.config.schema import Key, catalogue
from pincite.config.settings import ALIASES, Settings

PAGE = Path(__file__).parent / "settings.md"
EXAMPLE = Path(__file__).parent.parent / "settings.example.toml"
HEAD = """# Settings

Made by `python docs/make_settings.py`; do not edit by hand.

Every setting has a dotted key and an environment name. Its value comes from the first of these that names it:

1. what a caller passes: `--set key=value` on the command line, `Pincite(settings={"rag.top_k": 5})` in Python;
2. an administrator's change in the database: `pincite settings set rag.top_k 5`, or `PUT /settings` over
   [HTTP](http.md); it is in force in every process within a second, and a request under way keeps what it began with;
3. the environment;
4. the settings file: `settings.toml` in the data folder, or the path in `PINCITE_SETTINGS`
   ([an example](../settings.example.toml)); one that holds a secret must be private (`chmod 600`);
5. the default.

A wrong key, type or range is refused, and the nearest right one is named. `pincite settings list` shows every value and where
it comes from, `history` who changed what, `undo` takes the last change back. With `PINCITE_SAFE=1` a process ignores what is
in the database, and says so wherever settings are shown.

When a change acts:

- **request**: on the next request;
- **index**: on documents indexed after it. What was indexed before is *stale* until its file is added again; where the embedder
  changed, it is found by words alone until then, and answers say so;
- **start**: when a process starts. These, and secrets, are read from the file or the environment only, and so are names of
  providers given as a dotted path. While a server's key is set, its address cannot be changed in the database either.
"""
WHEN = {"query": "request", "index": "index", "start": "start"}


def page() -> str:
    """The whole page."""
    parts, branch = [HEAD], None
    for key in catalogue().values():
        top = key.name.split(".")[0] if "." in key.name else ""
        if top != branch:
            branch = top
            words = (Settings.model_fields[top].annotation.__doc__ or "") if top else "Where everything is kept."  # type: ignore[union-attr]
            head = "| key | default | may be | acts | meaning |\n|---|---|---|---|---|"
            parts.append(f"\n## {top or 'data'}\n\n{words}\n\n{head}")
        parts.append(
            f"| `{key.name}`<br>`{key.environment}` | {_default(key)} | {_allowed(key)} | {WHEN[key.acts]} | {key.description} |"
        )
    parts.append("\n## Other names that are read\n\n`PINCITE_…` names win over these.\n\n| name | setting |\n|---|---|")
    parts += [f"| `{name}` | `{key}` |" for name, key in ALIASES.items()]
    parts.append(_profiles())
    return "\n".join(parts) + "\n"


def example() -> str:
    """A settings file with everything in it, each line switched off and at its default."""
    lines = ["# Every setting at its default; made by `python docs/make_settings.py`. Copy it to `settings.toml` in the data",
             "# folder and take the `#` away from what shall be different. Keep it private if it holds a key: chmod 600."]  # fmt: skip
    branch = ""
    for key in catalogue().values():
        if key.name == "data":  # the file lies in it
            continue
        table, _, leaf = key.name.rpartition(".")
        if table != branch:
            branch = table
            lines += ["", f"[{table}]"]
        note = f"a secret; better in the environment, as {key.environment}" if key.secret else key.allowed
        lines += ["", f"# {key.description}", f"# {note[:1].upper()}{note[1:]}.", f"#{leaf} = {_toml(key)}"]
    return "\n".join(lines) + "\n"


def _profiles() -> str:
    """What each profile sets."""
    names = list(profiles())
    keys = [key for key in catalogue() if any(key in profile.values for profile in profiles().values())]
    lines = [
        "\n## Profiles",
        "",
        "A profile is a set of values. `profile` in a request (`--profile` on the command line) uses those that act on a request, for that",
        "one request; options of the request win over it. `pincite settings apply PROFILE` changes them all for the whole library, as one",
        "change that can be undone; `pincite settings diff PROFILE` shows beforehand what that would be. A profile never brings a provider,",
        "an address or a key: the models it names are those it is made for, and where they are not configured, what is configured",
        "is used and the answer's `degraded` says so.",
        "",
        *(f"- `{profile.name}`: {profile.about}" for profile in profiles().values()),
        "",
        "| key | " + " | ".join(f"`{name}`" for name in names) + " |",
        "|---" * (len(names) + 1) + "|",
    ]
    for key in keys:
        cells = [profiles()[name].values.get(key) for name in names]
        lines.append(
            f"| `{key}` | " + " | ".join("–" if cell is None else f"`{_plain(cell)}`" for cell in cells) + " |"
        )
    return "\n".join(lines)


def _default(key: Key) -> str:
    if key.name == "data":
        return "`~/.local/share/pincite`"
    return "none" if key.secret or key.default in (None, "", [], {}) else f"`{_plain(key.default)}`"


def _allowed(key: Key) -> str:
    return " ".join(f"`{choice}`" for choice in key.choices) or key.allowed.partition(" (")[0]


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _toml(key: Key) -> str:
    if key.default is None:
        return '""' if key.kind == "text" else "…"
    value = key.default
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {json.dumps(one)}" for name, one in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    EXAMPLE.write_text(example(), encoding="utf-8")
