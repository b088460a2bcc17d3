"""What the service and the demo say."""

import json
import shlex
from pathlib import Path

from pincite.cli.view.screen import Screen, styled
from pincite.text.counts import count


def print_opening(screen: Screen, documents: int, data: Path) -> None:
    """Say what the demo made."""
    screen.print_wrapped(styled(f"{count(documents, 'sample document')} in {data}", "dim"))
    screen.print_line()


def print_question(screen: Screen, question: str) -> None:
    """Print the question above its answer."""
    screen.print_wrapped(styled(question, "bold"))


def print_service(
    screen: Screen, address: str, data: Path, text_goes: str, *, key: str = "", keyless: bool = False
) -> None:
    """Say where the service is, what it serves, where text goes and what key there is."""
    screen.print_line(("pincite", "bold"), " listens on ", (address, "bold cyan"), "; Ctrl-C stops it")
    screen.print_line(("  data  ", "dim"), str(data))
    screen.print_line(("  text  ", "dim"), text_goes)
    if key:
        screen.print_line(("  key   ", "dim"), key)
    if keyless:
        how = f"pincite key create --name NAME --data {shlex.quote(str(data))}"
        screen.print_line(("  key   ", "dim"), ("there is none yet; make one with: ", "yellow"), how)


def print_setup(screen: Screen, link: str) -> None:
    """Say how the first administrator gets a password: the link counts once."""
    screen.print_line(("  setup ", "dim"), "first administrator, once: ", (link, "bold"))


def print_trial(screen: Screen, address: str, key: str, question: str) -> None:
    """Print a request that works as it stands."""
    screen.print_line()
    screen.print_line("Ask it something:")
    screen.print_line()
    body = json.dumps({"query": question}, ensure_ascii=False).replace("'", "'\\''")
    screen.print_line(f"  curl -s {address}/api/v1/query \\")
    screen.print_line(f"    -H 'Authorization: Bearer {key}' \\")
    screen.print_line("    -H 'Content-Type: application/json' \\")
    screen.print_line(f"    -d '{body}'")
