"""What the service and the demo say."""

import json
from pathlib import Path

from pincite.cli.safe import count
from pincite.cli.view.screen import Screen, joined, styled

INDENT = 11


def print_opening(screen: Screen, documents: int, data: Path) -> None:
    """Say what the demo made."""
    screen.flowing(styled(f"{count(documents, 'sample document')} in {data}", "dim"))
    screen.say()


def print_question(screen: Screen, question: str) -> None:
    """Print the question above its answer."""
    screen.flowing(styled(question, "bold"))


def print_service(screen: Screen, address: str, data: Path, text_goes: str, *, keyless: bool) -> None:
    """Say where the service is, what it serves and where text goes."""
    screen.say(("pincite", "bold"), " listens on ", (address, "bold cyan"))
    screen.flowing(styled(str(data)), indent=INDENT, lead=styled("  data", "dim"))
    screen.flowing(styled(text_goes), indent=INDENT, lead=styled("  text", "dim"))
    if keyless:
        told = joined(("there is none yet; make one with: ", "yellow"), f"pincite key create --name NAME --data {data}")
        screen.flowing(told, indent=INDENT, lead=styled("  key", "dim"))
    screen.flowing(styled("Ctrl-C"), indent=INDENT, lead=styled("  stop", "dim"))


def print_trial(screen: Screen, address: str, key: str, question: str) -> None:
    """Print a key and a request that works as it stands."""
    screen.flowing(styled(key), indent=INDENT, lead=styled("  key", "dim"))
    screen.say()
    screen.say("Ask it something:")
    screen.say()
    body = json.dumps({"query": question}, ensure_ascii=False).replace("'", "'\\''")
    screen.say(f"  curl -s {address}/api/v1/query \\")
    screen.say(f"    -H 'Authorization: Bearer {key}' \\")
    screen.say("    -H 'Content-Type: application/json' \\")
    screen.say(f"    -d '{body}'")
