"""What the service and the demo say."""

import json
import shlex
from pathlib import Path

from pincite.cli.view.screen import Screen, styled
from pincite.text.counts import count


def print_opening(screen: Screen, documents: int, data: Path) -> None:
    """Say what the demo made."""
    screen.flowing(styled(f"{count(documents, 'sample document')} in {data}", "dim"))
    screen.say()


def print_question(screen: Screen, question: str) -> None:
    """Print the question above its answer."""
    screen.flowing(styled(question, "bold"))


def print_service(
    screen: Screen, address: str, data: Path, text_goes: str, *, key: str = "", keyless: bool = False
) -> None:
    """Say where the service is, what it serves, where text goes and what key there is."""
    screen.say(("pincite", "bold"), " listens on ", (address, "bold cyan"), "; Ctrl-C stops it")
    screen.say(("  data  ", "dim"), str(data))
    screen.say(("  text  ", "dim"), text_goes)
    if key:
        screen.say(("  key   ", "dim"), key)
    if keyless:
        how = f"pincite key create --name NAME --data {shlex.quote(str(data))}"
        screen.say(("  key   ", "dim"), ("there is none yet; make one with: ", "yellow"), how)


def print_setup(screen: Screen, link: str) -> None:
    """Say how the first administrator gets a password: the link counts once."""
    screen.say(("  setup ", "dim"), "first administrator, once: ", (link, "bold"))


def print_trial(screen: Screen, address: str, key: str, question: str) -> None:
    """Print a request that works as it stands."""
    screen.say()
    screen.say("Ask it something:")
    screen.say()
    body = json.dumps({"query": question}, ensure_ascii=False).replace("'", "'\\''")
    screen.say(f"  curl -s {address}/api/v1/query \\")
    screen.say(f"    -H 'Authorization: Bearer {key}' \\")
    screen.say("    -H 'Content-Type: application/json' \\")
    screen.say(f"    -d '{body}'")
