"""Output of serve and demo."""

import json
import shlex
from pathlib import Path

from pincite.cli.view.screen import Screen, styled
from pincite.text.units import count


def print_opening(screen: Screen, documents: int, data: Path) -> None:
    """Print how many sample documents the demo added."""
    screen.print_wrapped(styled(f"{count(documents, 'sample document')} in {data}", "dim"))
    screen.print_line()


def print_question(screen: Screen, question: str) -> None:
    """Print the question above its answer."""
    screen.print_wrapped(styled(question, "bold"))


def print_service(
    screen: Screen, address: str, data: Path, text_goes: str, *, key: str = "", keyless: bool = False
) -> None:
    """Print the address of the service, its data folder, where text is sent, and the key."""
    screen.print_line(("pincite", "bold"), " listens on ", (address, "bold cyan"), "; Ctrl-C stops it")
    screen.print_line(("  data  ", "dim"), str(data))
    screen.print_line(("  text  ", "dim"), text_goes)
    if key:
        screen.print_line(("  key   ", "dim"), key)
    if keyless:
        how = f"pincite key create --name NAME --data {shlex.quote(str(data))}"
        screen.print_line(("  key   ", "dim"), ("there is none yet; create one with: ", "yellow"), how)


def print_setup(screen: Screen, link: str) -> None:
    """Print the one-time setup link of the first administrator."""
    screen.print_line(("  setup ", "dim"), "first administrator, once: ", (link, "bold"))


def print_trial(screen: Screen, address: str, key: str, question: str) -> None:
    """Print an example request that works unchanged."""
    screen.print_line()
    screen.print_line("Try a request:")
    screen.print_line()
    body = json.dumps({"query": question}, ensure_ascii=False).replace("'", "'\\''")
    screen.print_line(f"  curl -s {address}/api/v1/query \\")
    screen.print_line(f"    -H 'Authorization: Bearer {key}' \\")
    screen.print_line("    -H 'Content-Type: application/json' \\")
    screen.print_line(f"    -d '{body}'")
