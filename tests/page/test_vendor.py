"""What others wrote is what their packages hold, with its licence."""

import hashlib
import re
from pathlib import Path

VENDOR = Path(__file__).parent.parent.parent / "pincite" / "page" / "vendor"


def test_every_file_is_listed_with_its_checksum() -> None:
    listed = dict(
        re.findall(
            r"^\| `([\w./-]+)` \| [\w-]+ \| `([0-9a-f]{64})` \|$", (VENDOR / "README.md").read_text(), re.MULTILINE
        )
    )
    files = [path for path in VENDOR.rglob("*") if path.is_file() and path.suffix not in (".md", ".txt")]
    found = {path.relative_to(VENDOR).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    assert found == listed


def test_every_package_has_its_version_and_licence() -> None:
    text = (VENDOR / "README.md").read_text()
    packages = re.findall(r"^\| \[([\w-]+)\]\(\S+\) \| ([\d.]+) \| \[[^\]]+\]\((\S+)\) \|", text, re.MULTILINE)
    used = set(re.findall(r"^\| `[\w./-]+` \| ([\w-]+) \|", text, re.MULTILINE))
    assert {name for name, _, _ in packages} == used
    assert all((VENDOR / licence).is_file() for _, _, licence in packages)
