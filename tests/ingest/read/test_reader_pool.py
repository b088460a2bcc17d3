"""The reader and its child processes."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from pincite.config.branches.ingestion import Chunking
from pincite.errors import Unavailable, Unreadable
from pincite.ingest.read import reader_pool
from pincite.ingest.read.parse_and_chunk import parse_and_chunk
from pincite.ingest.read.reader_pool import Isolation, Reader, isolation
from pincite.ingest.read.sandbox import NO_NETWORK
from tests.steady_clock import now

MARKDOWN = "---\ntitle: Größe\ntags: [a, b]\n---\n# Eins\n\nText – mehr.\n\n| a |\n|---|\n| 1 |\n".encode()
CHUNKING = Chunking(size=50, overlap=10)

HOSTILE = """
import ctypes, os, signal, socket, struct, sys, threading, time
from dataclasses import dataclass
from pincite.core.documents.document import Parsed
from pincite.core.progress import report_progress


def replies():
    return next(fd for fd in range(3, 32) if os.path.exists(f"/proc/self/fd/{fd}"))


TRIES = {
    "write": lambda: open("/dev/shm/pincite-hostile", "wb"),
    "append": lambda: os.open(__file__, os.O_WRONLY | os.O_APPEND),
    "unlink": lambda: os.unlink(__file__),
    "rename": lambda: os.rename(__file__, __file__ + "x"),
    "mkdir": lambda: os.mkdir("/dev/shm/pincite-hostile"),
    "symlink": lambda: os.symlink("/etc/passwd", "/dev/shm/pincite-hostile"),
    "chmod": lambda: os.chmod(__file__, 0o777),
    "read": lambda: open("/etc/passwd").read(),
    "list": lambda: os.listdir("/"),
    "program": lambda: os.execv("/bin/true", ["true"]),
    "fork": lambda: os.fork(),
    "spawn": lambda: os.posix_spawn("/bin/true", ["true"], {}),
    "kill": lambda: os.kill(os.getppid(), 0),
    "socket": lambda: socket.socket(socket.AF_INET),
    "unix": lambda: socket.socket(socket.AF_UNIX),
    "pair": lambda: socket.socketpair(),
    "limits": lambda: __import__("resource").setrlimit(7, (999, 999)),
}


def attempt(action):
    try:
        action()
    except OSError:
        return "refused"
    except ValueError:
        return "refused"
    return "done"


@dataclass(frozen=True)
class Options:
    pass


class Hostile:
    reads = {"text/hostile": ".hostile"}

    def parse(self, data):
        what = data.decode()
        if what == "crash":
            ctypes.string_at(0)
        elif what == "memory":
            [bytearray(1 << 26) for _ in range(64)]
        elif what == "hang":
            time.sleep(60)
        elif what == "print":
            print("noise", flush=True)
            os.write(1, b"more noise")
        elif what == "bug":
            raise KeyError("secret words")
        elif what.startswith("/"):
            with open(what, "wb") as file:
                file.write(b"x" * 10)
        elif what == "connect":
            socket.create_connection(("127.0.0.1", 9), timeout=1)
        elif what == "environment":
            return Parsed(" ".join(sorted(os.environ)), "plain")
        elif what == "tries":
            return Parsed(" ".join(f"{name}:{attempt(action)}" for name, action in TRIES.items()), "plain")
        elif what == "thread":
            said = []
            thread = threading.Thread(target=lambda: said.append("threads work"))
            thread.start()
            thread.join()
            return Parsed(said[0], "plain")
        elif what == "hoard":
            global hoard
            hoard = bytearray(1 << 28)
        elif what == "abort":
            os.abort()
        elif what == "killed":
            signal.raise_signal(signal.SIGKILL)
        elif what == "pace":
            for page in range(1, 6):
                report_progress("page", page, 5)
                time.sleep(0.3)
        elif what == "garbage":
            os.write(replies(), b"x" * 100)
            time.sleep(60)
        elif what == "flood":
            while True:
                os.write(replies(), struct.pack(">BI", 0, 13) + b'["page",1,2] ')
        elif what == "endless":
            os.write(replies(), struct.pack(">BI", 1, 2**32 - 1))
            time.sleep(60)
        elif what == "descriptors":
            return Parsed(" ".join(sorted(os.listdir("/proc/self/fd"))), "plain")
        return Parsed("fine " + what, "plain")


def make_parser(options):
    return Hostile()
"""


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a parser that carries out the attack named in the file."""
    packages = tmp_path / "site-packages"  # a child may read packages there
    (packages / "pincite_hostile").mkdir(parents=True)
    (packages / "pincite_hostile" / "__init__.py").write_text("")
    (packages / "pincite_hostile" / "parser.py").write_text(HOSTILE)
    monkeypatch.syspath_prepend(str(packages))
    return "pincite_hostile.parser"


@pytest.fixture(scope="module")
def isolated() -> Isolation:
    """The restrictions that hold on this machine."""
    return isolation()


@asynccontextmanager
async def reader(children: int = 1, memory_mb: int = 512, timeout_s: float = 30) -> AsyncIterator[Reader]:
    made = Reader(children=children, memory_mb=memory_mb, timeout_s=timeout_s)
    try:
        yield made
    finally:
        await made.close()


async def failing(action: Awaitable[object]) -> Unreadable:
    with pytest.raises(Unreadable) as caught:
        await action
    return caught.value


def pid(made: Reader) -> int:
    return made._idle[0].process.pid


@pytest.mark.slow
def test_a_child_returns_the_same_as_parsing_in_this_process(tmp_path: Path):
    file = tmp_path / "x.md"
    file.write_bytes(MARKDOWN)

    async def run() -> None:
        async with reader() as made:
            expected = parse_and_chunk(MARKDOWN, "markdown", CHUNKING)
            assert await made.read(MARKDOWN, "markdown", CHUNKING) == expected
            first = pid(made)
            assert await made.read(file, "markdown", CHUNKING) == expected
            assert pid(made) == first

    asyncio.run(run())


@pytest.mark.slow
def test_errors_of_the_child_are_raised_here():
    async def run() -> None:
        async with reader() as made:
            error = await failing(made.read(b" \n ", "plain", CHUNKING))
            assert (error.code, "no text" in str(error)) == ("empty", True)
            first = pid(made)
            assert (await failing(made.read(b"no pdf", "pdf", CHUNKING))).code == "broken"
            assert pid(made) == first

    asyncio.run(run())


@pytest.mark.slow
@pytest.mark.parametrize(
    "cases",
    [
        {b"crash": ("crashed", "SIGSEGV"), b"killed": ("crashed", "memory runs short")},
        {b"memory": ("limit", "512 MB"), b"bug": ("crashed", "KeyError"), b"abort": ("limit", "more than 512 MB")},
    ],
    ids=["ended", "failed"],
)
def test_a_hostile_file_fails_alone(hostile: str, cases: dict[bytes, tuple[str, str]]):
    asyncio.run(fail_alone(hostile, cases))


@pytest.mark.slow
def test_a_child_that_talks_nonsense_is_ended_and_the_next_file_read(hostile: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reader_pool, "_EXIT_TIMEOUT_S", 0.1)  # the child sleeps: do not wait for it to exit
    monkeypatch.setattr(reader_pool, "_MAX_PROGRESS_FRAMES", 5_000)
    asyncio.run(
        fail_alone(hostile, dict.fromkeys((b"garbage", b"endless", b"flood"), ("crashed", "crashed the parser")))
    )


async def fail_alone(hostile: str, cases: dict[bytes, tuple[str, str]]) -> None:
    """Read hostile files one after the other; each fails with its code, and a good file after it is read."""
    async with reader() as made:
        for what, (code, said) in cases.items():
            error = await failing(made.read(what, hostile, CHUNKING))
            assert error.code == code
            assert said in str(error)
            assert "secret" not in str(error)
            assert (await made.read(MARKDOWN, "markdown", CHUNKING)).parsed.title == "Größe"


@pytest.mark.slow
def test_a_child_writes_no_file(hostile: str, tmp_path: Path):
    target = tmp_path / "written"

    async def run() -> None:
        async with reader() as made:
            error = await failing(made.read(str(target).encode(), hostile, CHUNKING))
            assert any(name in str(error) for name in ("OSError", "PermissionError"))

    asyncio.run(run())
    assert not target.exists() or target.stat().st_size == 0


@pytest.mark.slow
def test_a_file_that_exceeds_the_timeout_fails_and_its_child_is_ended(hostile: str):
    async def run() -> None:
        async with reader(timeout_s=0.5) as made:
            await made.read(b"warm", hostile, CHUNKING)
            child = pid(made)
            started = now()
            error = await failing(made.read(b"hang", hostile, CHUNKING))
            assert now() - started < 5
            assert error.code == "limit"
            assert "0.5 s" in str(error)
            assert not _alive(child)
            made.timeout_s = 30
            assert await made.read(b"next", hostile, CHUNKING)

    asyncio.run(run())


@pytest.mark.slow
def test_the_child_of_a_cancelled_read_is_ended(hostile: str):
    async def run() -> None:
        async with reader() as made:
            await made.read(b"warm", hostile, CHUNKING)
            child = pid(made)
            task = asyncio.create_task(made.read(b"hang", hostile, CHUNKING))
            await asyncio.sleep(0.2)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert not _alive(child)
            assert (await made.read(b"next", hostile, CHUNKING)).parsed.text == "fine next"

    asyncio.run(run())


@pytest.mark.slow
def test_a_child_has_no_environment_and_no_descriptors_of_its_parent(hostile: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LLM_API_KEY", "secret")
    inherited = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(inherited, True)

    async def run() -> None:
        async with reader() as made:
            names = (await made.read(b"environment", hostile, CHUNKING)).parsed.text.split()
            assert "LLM_API_KEY" not in names
            assert (await made.read(b"print", hostile, CHUNKING)).parsed.text == "fine print"
            numbers = (await made.read(b"descriptors", hostile, CHUNKING)).parsed.text.split()
            assert len(numbers) <= 5

    try:
        asyncio.run(run())
    finally:
        os.close(inherited)


@pytest.mark.slow
def test_a_child_has_no_network_where_the_system_allows(hostile: str, isolated: Isolation):
    if NO_NETWORK not in isolated.holds:
        pytest.skip("this system lets no process leave its network")

    async def run() -> None:
        async with reader() as made:
            error = await failing(made.read(b"connect", hostile, CHUNKING))
            assert any(name in str(error) for name in ("OSError", "PermissionError"))

    asyncio.run(run())


@pytest.mark.slow
def test_a_hostile_parser_reaches_neither_files_nor_programs_nor_processes(hostile: str, isolated: Isolation):
    if lacking := isolated.lacks:
        pytest.skip(f"this system does not support: {', '.join(lacking)}")

    async def run() -> None:
        async with reader() as made:
            tried = (await made.read(b"tries", hostile, CHUNKING)).parsed.text.split()
            assert [one for one in tried if not one.endswith(":refused")] == []
            assert len(tried) == 17
            assert (await made.read(b"thread", hostile, CHUNKING)).parsed.text == "threads work"

    asyncio.run(run())
    assert not Path("/dev/shm/pincite-hostile").exists()


@pytest.mark.slow
def test_progress_is_reported_while_a_file_is_read(hostile: str):
    reports: list[tuple[str, int, int]] = []

    async def report(what: str, done: int, of: int) -> None:
        reports.append((what, done, of))

    async def run() -> None:
        async with reader() as made:
            assert (await made.read(b"pace", hostile, CHUNKING, report=report)).parsed.text == "fine pace"

    asyncio.run(run())
    assert reports == sorted(reports)
    assert len(reports) >= 2
    assert {(what, of) for what, _, of in reports} == {("page", 5)}


@pytest.mark.slow
def test_other_files_are_read_while_one_hangs_crashes_or_exhausts_memory(hostile: str):
    async def run() -> None:
        async with reader(children=3, timeout_s=20) as made:
            bad = [asyncio.create_task(made.read(what, hostile, CHUNKING)) for what in (b"hang", b"crash", b"memory")]
            good = await asyncio.gather(*(made.read(f"t{n}".encode(), hostile, CHUNKING) for n in range(10)))
            assert [one.parsed.text for one in good] == [f"fine t{n}" for n in range(10)]
            assert not bad[0].done()
            assert {(await failing(task)).code for task in bad[1:]} == {"crashed", "limit"}
            bad[0].cancel()
            await asyncio.wait(bad)

    asyncio.run(run())


@pytest.mark.slow
def test_as_many_children_as_allowed_run_at_once(hostile: str):
    async def run() -> None:
        async with reader(children=2) as made:
            texts = [f"t{n}".encode() for n in range(20)]
            read = await asyncio.gather(*(made.read(text, hostile, CHUNKING) for text in texts))
            assert [one.parsed.text for one in read] == [f"fine t{n}" for n in range(20)]
            assert len(made._idle) == 2

    asyncio.run(run())


@pytest.mark.slow
def test_a_child_that_keeps_much_memory_is_replaced(hostile: str):
    async def run() -> None:
        async with reader(memory_mb=400) as made:
            await made.read(b"warm", hostile, CHUNKING)
            assert len(made._idle) == 1
            assert (await made.read(b"hoard", hostile, CHUNKING)).parsed.text == "fine hoard"
            assert made._idle == []
            assert (await made.read(b"next", hostile, CHUNKING)).parsed.text == "fine next"

    asyncio.run(run())


@pytest.mark.slow
def test_closing_ends_all_children_and_the_reader(hostile: str):
    async def run() -> None:
        async with reader(children=2) as made:
            await made.read(b"warm", hostile, CHUNKING)
            child = pid(made)
            busy = asyncio.create_task(made.read(b"hang", hostile, CHUNKING))
            starting = asyncio.create_task(made.read(b"hang", hostile, CHUNKING))
            await asyncio.sleep(0.2)
            await made.close()
            assert not _alive(child)
            for task in (busy, starting):
                with pytest.raises(Unavailable):
                    await task
            with pytest.raises(Unavailable):
                await made.read(b"x", hostile, CHUNKING)

    asyncio.run(run())


@pytest.mark.slow
def test_a_child_that_cannot_start_says_so(monkeypatch: pytest.MonkeyPatch):
    broken: Callable[[int], object] = lambda _: (["/bin/false"], {})  # noqa: E731
    monkeypatch.setattr(reader_pool, "_command", broken)

    async def run() -> None:
        async with reader() as made:
            with pytest.raises(Unavailable, match="does not start"):
                await made.read(MARKDOWN, "markdown", CHUNKING)

    asyncio.run(run())


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
