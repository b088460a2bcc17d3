"""The common options of all commands, their context, and the decorator that makes a function a command."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

if TYPE_CHECKING:
    from pincite.config.settings import Settings
    from pincite.engine.app import AsyncPincite

Work = Callable[..., Coroutine[Any, Any, None]]

DataOption = Annotated[str | None, typer.Option("--data", metavar="DIR", help="The data folder of the library.")]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Set a setting for this call, such as rag.top_k=5; repeatable."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
DebugOption = Annotated[bool, typer.Option("--debug", help="Print the traceback of an error.")]

_COMMON_OPTIONS: dict[str, tuple[Any, Any]] = {
    "json": (JsonOption, False),
    "data": (DataOption, None),
    "set": (SetOption, None),
    "debug": (DebugOption, False),
}


@dataclass(frozen=True, slots=True)
class CommandContext:
    """One call of the command line: its settings, whether it prints JSON, and the values of `--set` and `--data`.

    `settings` lack the changes stored in the database; an open library has them.
    """

    settings: "Settings"
    json: bool
    chosen: Mapping[str, Any] = field(default_factory=dict)
    data: str | None = None

    def with_settings(self, values: Mapping[str, Any]) -> "CommandContext":
        """The same call with these settings, as if passed with `--set`."""
        from pincite.config.sources import with_values

        return replace(self, settings=with_values(self.settings, values), chosen={**self.chosen, **values})

    @asynccontextmanager
    async def open(self) -> "AsyncIterator[AsyncPincite]":
        """Open the library, and close it afterwards."""
        from pincite.cli.view.screen import waiting

        with waiting("opening the library …"):
            from pincite.engine.app import AsyncPincite

            pincite = AsyncPincite(self.data, settings=self.chosen)
            await pincite.open()
        try:
            yield pincite
        finally:
            await pincite.close()


def command(app: typer.Typer, name: str, *, ids: bool = False, until_stopped: bool = False) -> Callable[[Work], Work]:
    """Register an async function as a command of `app`, with the common options.

    Its first parameter is the `CommandContext`; the others are its own arguments and options. Its docstring is the
    help text. `ids` allows arguments that begin with a dash, as ids may. With `until_stopped`, Ctrl-C ends the command
    without an error.
    """

    def register(work: Work) -> Work:
        def call(**given: Any) -> None:
            typer_context = given.pop("ctx")
            common = {key: given.pop(key) for key in _COMMON_OPTIONS}
            try:
                asyncio.run(work(_make_context(typer_context, common), **given))
            except KeyboardInterrupt:
                if not until_stopped:
                    raise

        call.__signature__ = _signature(work)  # type: ignore[attr-defined]
        settings = {"ignore_unknown_options": True} if ids else None
        app.command(name, help=inspect.cleandoc(work.__doc__ or ""), context_settings=settings)(call)
        return work

    return register


def _signature(work: Work) -> Signature:
    """The command's own parameters without the context, then the common options."""
    _, *own = inspect.signature(work).parameters.values()
    common = [(name, annotation, default) for name, (annotation, default) in _COMMON_OPTIONS.items()]
    return Signature(
        [
            Parameter("ctx", Parameter.KEYWORD_ONLY, annotation=typer.Context),
            *(parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in own),
            *(Parameter(n, Parameter.KEYWORD_ONLY, annotation=a, default=d) for n, a, d in common),
        ]
    )


def _make_context(typer_context: typer.Context, common: dict[str, Any]) -> CommandContext:
    from pincite.config.sources import load_settings
    from pincite.errors import SettingsError

    chosen = parse_settings(common["set"] or ())
    folder = common["data"] if common["data"] is not None else typer_context.obj
    if folder == "":
        raise SettingsError("--data is empty; name a folder")
    given = chosen if folder is None else {"data": folder, **chosen}
    return CommandContext(load_settings(given), common["json"], chosen, folder)


def check_choice(choices: Any, value: str | None, what: str) -> Any:
    """Return the value if a `Literal` allows it, or None for None; raise `Invalid` otherwise."""
    from pincite.errors import Invalid

    if value is not None and value not in get_args(choices):
        raise Invalid(f"there is no {what} '{value}'; there are: {', '.join(get_args(choices))}")
    return value


def parse_settings(pairs: Iterable[str]) -> dict[str, Any]:
    """Parse `["rag.top_k=5"]` into `{"rag.top_k": "5"}`; refuse secrets, as other users can see command lines."""
    from pincite.config.schema import find
    from pincite.errors import SettingsError

    found: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or not key:
            raise SettingsError(f"--set takes KEY=VALUE, such as rag.top_k=5, not '{pair}'")
        if (named := find(key)) and named.secret:
            raise SettingsError(
                f"{key} is a secret, and other users of this machine can read the command line; "
                f"set {named.environment} in the environment instead"
            )
        found[key] = value
    return found
