"""Writes docs/settings.md from the settings themselves: `python docs/make_settings.py`."""

from pathlib import Path
from typing import Any

from pincite.settings import ALIASES, Settings, describe, environment_name

PAGE = Path(__file__).parent / "settings.md"
HEAD = """# Settings

Made by `python docs/make_settings.py`; do not edit by hand.

Every setting has a dotted key and an environment name. On the command line any of them can be given for one call with
`--set key=value`; in Python with `Pincite(settings={"rag.top_k": 5})`. What is given there wins over the environment,
which wins over the default. A wrong key, type or range is refused at start with the nearest right one named.
"""


def page() -> str:
    """The whole page."""
    parts, branch = [HEAD], None
    for key, field in describe():
        top = key.split(".")[0] if "." in key else ""
        if top != branch:
            branch = top
            words = (Settings.model_fields[top].annotation.__doc__ or "") if top else "Where everything is kept."  # type: ignore[union-attr]
            parts.append(f"\n## {top or 'data'}\n\n{words}\n\n| key | default | range | meaning |\n|---|---|---|---|")
        parts.append(
            f"| `{key}`<br>`{environment_name(key)}` | {_default(key, field)} | {_range(field)} | {field.description} |"
        )
    parts.append("\n## Other names that are read\n\n`PINCITE_…` names win over these.\n\n| name | setting |\n|---|---|")
    parts += [f"| `{name}` | `{key}` |" for name, key in ALIASES.items()]
    return "\n".join(parts) + "\n"


def _default(key: str, field: Any) -> str:
    if key == "data":
        return "`~/.local/share/pincite`"
    value = field.get_default(call_default_factory=True)
    if value in (None, "", (), {}):
        return "none"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _range(field: Any) -> str:
    limits = {
        name: getattr(rule, name) for rule in field.metadata for name in ("ge", "gt", "le") if hasattr(rule, name)
    }
    low = limits.get("ge", limits.get("gt"))
    if low is not None and "le" in limits:
        return f"{low}–{limits['le']}"
    if low is not None:
        return f"{'over' if 'gt' in limits else 'from'} {low}"
    options = getattr(field.annotation, "__args__", ())
    return " ".join(f"`{option}`" for option in options if isinstance(option, str))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
