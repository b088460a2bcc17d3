"""Folders in a terminal."""

from collections.abc import Sequence

from rich.text import Text

from pincite.cli.output import one_line
from pincite.cli.view.screen import Screen, make_table, shorten
from pincite.core.documents.document import Folder

MAX_PROMPT_CHARS = 40
"""Maximum characters of a prompt in the list."""


def print_folders(screen: Screen, folders: Sequence[Folder]) -> None:
    """Print a line for each folder."""
    if not folders:
        screen.print_line("There are no folders; add documents to one with: pincite add PATH --folder NAME")
        return
    table = make_table("folder", ">documents", "label", "prompt")
    for folder in folders:
        prompt = shorten(one_line(folder.system_prompt or ""), MAX_PROMPT_CHARS)
        table.add_row(
            Text(one_line(folder.path)),
            f"{folder.documents:,}",
            Text(one_line(folder.category_label or "")),
            Text(prompt),
        )
    screen.print_table(table, drop_first=("prompt", "label"))
