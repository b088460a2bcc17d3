"""The server of the Model Context Protocol, by the official library: tools, resources and prompts."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from pincite import __version__
from pincite.concurrency import cancel_and_wait
from pincite.core.documents.document import Document, Listing, ReadRequest
from pincite.core.run import Event, PassagesFound, Planned, SourcesFound, Started, Stepped, Token
from pincite.errors import NotFound, PinciteError
from pincite.mcp.prompts import PROMPTS, prompt_messages
from pincite.mcp.tools import TOOLS, Tool, ToolBackend, ToolResult, call_tool, output_schema

INSTRUCTIONS = (
    "Documents of the user's own. Use ask for a cited answer, or rag_search for passages and read_document or"
    " find_in_document to look closer; cite by document and lines."
)
RESOURCE_PREFIX = "pincite://documents/"
TEXT_TYPE = "text/markdown"
"""Every document is read as Markdown, whatever its file type is."""
PROGRESS_INTERVAL_S = 10.0
"""Seconds after which progress is reported again: clients wait longer for a tool that reports progress."""
Listen = Callable[[Event], None]
Context = ServerRequestContext[Any, Any]
BackendMaker = Callable[[Any, Listen], ToolBackend]
"""Makes the backend of one request: from the HTTP request, or None, and from who listens to the events of its answer."""
T = TypeVar("T")


def make_server(backend_for: BackendMaker) -> Server[Any]:
    """Make the server; every request gets a backend with the permissions of its caller."""
    handlers = _Handlers(backend_for)
    return Server(
        "pincite",
        version=__version__,
        title="pincite",
        instructions=INSTRUCTIONS,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )


class _Handlers:
    """What the server does with each request."""

    def __init__(self, backend_for: BackendMaker) -> None:
        self._backend_for = backend_for

    def _backend(self, context: Context, listen: Listen = lambda _event: None) -> ToolBackend:
        return self._backend_for(context.request, listen)

    async def list_tools(self, context: Context, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[describe_tool(name, tool) for name, tool in TOOLS.items()])

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Call a tool; an error becomes part of the result, so that the model can try again."""
        if params.name not in TOOLS:
            message = f"there is no tool '{params.name[:100]}'; there are: {', '.join(TOOLS)}"
            raise MCPError(types.INVALID_PARAMS, message)
        progress = _Progress(context)
        backend = self._backend(context, progress.hear)
        work = call_tool(backend, params.name, params.arguments or {})
        try:
            return tool_result(await _until_cancelled(progress.during(work)))
        except PinciteError as error:
            text = types.TextContent(text=backend.describe_error(error))
            return types.CallToolResult(content=[text], is_error=True)

    async def list_resources(self, context: Context, params: Any) -> types.ListResourcesResult:
        cursor = params.cursor if params else None
        found, following = await self._guarded(context, self._backend(context).page(Listing(cursor=cursor)))
        return types.ListResourcesResult(resources=[_resource(one) for one in found], next_cursor=following)

    async def list_templates(self, context: Context, params: Any) -> types.ListResourceTemplatesResult:
        template = types.ResourceTemplate(
            name="document",
            title="A document",
            uri_template=f"{RESOURCE_PREFIX}{{document_id}}",
            description="The text of a document, by the id that rag_search and ask return.",
            mime_type=TEXT_TYPE,
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        document_id = uri.removeprefix(RESOURCE_PREFIX)
        if document_id == uri or not document_id:
            raise MCPError(
                types.INVALID_PARAMS, f"there is no resource '{uri[:200]}'; they begin with {RESOURCE_PREFIX}"
            )
        read = await self._guarded(context, self._backend(context).read(ReadRequest(document_id)))
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=uri, mime_type=TEXT_TYPE, text=read.content)]
        )

    async def list_prompts(self, context: Context, params: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=list(PROMPTS.values()))

    async def get_prompt(self, context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        try:
            text = prompt_messages(params.name, params.arguments or {})
        except PinciteError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from None
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=PROMPTS[params.name].description, messages=[message])

    async def _guarded(self, context: Context, work: Awaitable[T]) -> T:
        """Do the work; an error of pincite becomes one of the protocol."""
        try:
            return await work
        except PinciteError as error:
            code = types.INVALID_PARAMS if isinstance(error, NotFound) or error.status < 500 else types.INTERNAL_ERROR
            raise MCPError(code, self._backend(context).describe_error(error)) from None


def describe_tool(name: str, tool: Tool) -> types.Tool:
    """A tool as clients see it: nothing that it does changes anything."""
    return types.Tool(
        name=name,
        title=tool.title,
        description=str(tool.__doc__),
        input_schema=tool.model_json_schema(),
        output_schema=output_schema(tool),
        annotations=types.ToolAnnotations(
            title=tool.title, read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
    )


def tool_result(result: ToolResult) -> types.CallToolResult:
    """The result of a tool: text, links to the documents it is from, and JSON."""
    links = [
        types.ResourceLink(name=title, title=title, uri=f"{RESOURCE_PREFIX}{one}", mime_type=TEXT_TYPE)
        for one, title in result.documents.items()
    ]
    return types.CallToolResult(
        content=[types.TextContent(text=result.text), *links], structured_content=result.data, is_error=False
    )


def _resource(document: Document) -> types.Resource:
    path = f"{document.folder}/{document.name}" if document.folder else document.name
    return types.Resource(
        name=path,
        title=document.title,
        uri=f"{RESOURCE_PREFIX}{document.id}",
        description=document.description,
        mime_type=TEXT_TYPE,
    )


async def _until_cancelled(work: Awaitable[T]) -> T:
    """Do the work in a task of its own; when the request is cancelled, end the task and wait for its end.

    The library cancels at every `await` again, so that work could not end properly in its task.
    """
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    finally:
        if not task.done():
            with anyio.CancelScope(shield=True):
                await cancel_and_wait(task)


_STAGES: Mapping[type, str] = {
    Started: "the question is understood",
    Planned: "searching",
    PassagesFound: "passages found",
    SourcesFound: "writing the answer",
    Stepped: "a step is done",
}


class _Progress:
    """Reports the progress of a tool: each stage of an answer, and that it is still being written."""

    def __init__(self, context: Context) -> None:
        self._session = context.session
        self._news: asyncio.Queue[str] = asyncio.Queue()
        self._words = 0

    def hear(self, event: Event) -> None:
        """Take note of an event of the answer."""
        if isinstance(event, Token):
            self._words += len(event.text.split())
        elif type(event) in _STAGES:
            self._news.put_nowait(_STAGES[type(event)])

    async def during(self, work: Awaitable[T]) -> T:
        """Do the work and report its progress meanwhile."""
        reporting = asyncio.create_task(self._report())
        try:
            return await work
        finally:
            await cancel_and_wait(reporting)

    async def _report(self) -> None:
        done = 0
        while True:
            message = f"{self._words} words written" if self._words else "working"
            with suppress(TimeoutError):
                async with asyncio.timeout(PROGRESS_INTERVAL_S):
                    message = await self._news.get()
            done += 1
            await self._session.report_progress(done, message=message)
