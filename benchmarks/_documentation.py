"""A tree of Markdown documentation for benchmarks: the user's own, or the one from the question sets."""

import argparse
import shutil
import tarfile
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`--data` and `--documents`: one of them says where the documentation comes from."""
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--data", type=Path, help="folder with haystack-docs/documents.tar.gz")
    source.add_argument("--documents", type=Path, help="a folder of Markdown files instead")


def copy_tree(arguments: argparse.Namespace, folder: Path, *, newest: bool = True) -> Path:
    """Put the documentation into `folder`, where it may be changed; of several releases only the newest, or all."""
    if arguments.documents is not None:
        return Path(shutil.copytree(arguments.documents, folder / arguments.documents.resolve().name))
    with tarfile.open(arguments.data / "haystack-docs" / "documents.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    releases = [place for place in (folder / "documents").iterdir() if place.is_dir()]
    return max(releases, key=_release) if newest else folder / "documents"


def markdown_files(tree: Path) -> list[Path]:
    """Every Markdown file below a folder, in a stable order."""
    return sorted(path for path in tree.rglob("*") if path.suffix in (".md", ".mdx", ".markdown") and path.is_file())


def _release(place: Path) -> tuple[int, ...]:
    return tuple(int(part) for part in place.name.split("."))
