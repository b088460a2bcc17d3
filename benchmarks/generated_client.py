"""A typed client generated from the OpenAPI description by openapi-python-client, against a running service.

The generator needs another version of a package than pincite. This command makes `.tools/generator` with it, which needs a
network the first time, generates the client from a service that it starts, and asks that service with the client.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.api.live_server import LiveServer

ROOT = Path(__file__).parent.parent
PLACE = ROOT / ".tools" / "generator"
LEAVE = "# Leave\n\nUp to five vacation days carry over into the next year.\n"
TRIAL = """
import os
from pincite_client import AuthenticatedClient
from pincite_client.api.documents import documents_api_v1_documents_get as documents
from pincite_client.api.questions import query_api_v1_query_post as query
from pincite_client.models import QueryBody

client = AuthenticatedClient(base_url=os.environ["TRIAL_URL"], token=os.environ["TRIAL_KEY"])
found = documents.sync(client=client)
print(type(found).__name__, found.items[0].name, type(found.items[0].created_at).__name__)
answer = query.sync(client=client, body=QueryBody(query="How many vacation days carry over?"))
print(type(answer).__name__, type(answer.citations[0]).__name__, answer.citations[0].quote)
"""


def main() -> None:
    """Generate the client and try it."""
    python = PLACE / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", PLACE, "--without-pip"], check=True)
    uv = shutil.which("uv") or str(ROOT / ".tools" / "bin" / "uv")
    subprocess.run([uv, "pip", "install", "--quiet", "--python", python, "openapi-python-client", "ruff"], check=True)
    with tempfile.TemporaryDirectory() as temporary, LiveServer(Path(temporary) / "data") as server:
        place = Path(temporary)
        server.add("hr", leave=LEAVE)
        with server.client() as plain:
            (place / "openapi.json").write_bytes(plain.get("/api/v1/openapi.json").content)
            key, url = plain.headers["authorization"].removeprefix("Bearer "), str(plain.base_url).rstrip("/")
        path = f"{PLACE / 'bin'}:{os.environ.get('PATH', '')}"
        generate = ["openapi-python-client", "generate", "--path", "openapi.json", "--output-path", "made"]
        subprocess.run(generate, cwd=place, check=True, env={**os.environ, "PATH": path})
        there = {**os.environ, "PYTHONPATH": str(place / "made"), "TRIAL_URL": url, "TRIAL_KEY": key}
        sys.exit(subprocess.run([python, "-c", TRIAL], env=there).returncode)


if __name__ == "__main__":
    main()
