"""Resources, prompts and completions of a session, in front of the same calls as its tools."""

import json
from dataclasses import replace
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolResult,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    EmptyResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    PromptReference,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    SubscribeRequestParams,
    TextContent,
    TextResourceContents,
    UnsubscribeRequestParams,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from astra.interfaces.mcp import prompts, resources
from astra.interfaces.mcp.answers import CORRELATION
from astra.interfaces.mcp.departure import find_departure
from astra.interfaces.mcp.session import Session
from astra.interfaces.mcp.tool_server import ToolServer
from astra.trusted.kernel.errors import AstraError

Context = ServerRequestContext[Any, Any]
_NOT_FOUND = -32002
_JSON, _TEXT = "application/json", "text/plain"
_MOST_COMPLETIONS = 50


async def list_resources(
    tools: ToolServer, session: Session, params: PaginatedRequestParams | None
) -> ListResourcesResult:
    """List what is always there, and then the files of the target, page by page."""
    cursor = params.cursor if params else None
    fixed = [] if cursor else [_describe_fixed(*resource) for resource in resources.list_fixed()]
    arguments = {"cursor": cursor} if cursor else {}
    page = await tools.call(_structured(session), "list_source_files", arguments)
    listing: dict[str, Any] = page.structured_content or {}
    if page.is_error:
        return ListResourcesResult(resources=fixed)  # switched off or not in its toolsets
    files = [_describe_file(item) for item in listing.get("items", ())]
    return ListResourcesResult(resources=[*fixed, *files], next_cursor=listing.get("next"))


def list_templates() -> ListResourceTemplatesResult:
    templates = [
        ResourceTemplate(
            uri_template=uri,
            name=uri.removeprefix("astra://").partition("/")[0],
            description=about,
            mime_type=_TEXT if uri.startswith(resources.SOURCE) else _JSON,
        )
        for uri, about in resources.list_templates()
    ]
    return ListResourceTemplatesResult(resource_templates=templates)


async def read_resource(
    tools: ToolServer, session: Session, ctx: Context, params: ReadResourceRequestParams
) -> ReadResourceResult:
    call = require_call(str(params.uri), ctx.protocol_version)
    departure = find_departure(ctx.request)
    result = await tools.call(_structured(session), *call, departure=departure)
    if result.is_error:
        raise _build_refusal(result, ctx.protocol_version)
    document: dict[str, Any] = result.structured_content or {}
    if call[0] == "read_source_code":
        texts, kind = _divide_file(document), _TEXT
    else:
        texts, kind = [json.dumps(document, ensure_ascii=False, indent=1)], _JSON
    uri = str(params.uri)
    return ReadResourceResult(
        contents=[TextResourceContents(uri=uri, text=text, mime_type=kind) for text in texts]
    )


def _divide_file(document: dict[str, Any]) -> list[str]:
    """Give a file's text, and after it what is missing where it is too long to be read at once."""
    text = str(document["text"])
    if not document["more"]:
        return [text]
    next_call = f"read_source_code with path {document['path']} and cursor {document['next']}"
    return [text, f"[cut after {len(text)} characters; next: {next_call}]"]


def require_call(uri: str, version: str = "") -> tuple[str, dict[str, Any]]:
    """Find the call behind a resource; what is none has another error code in each protocol."""
    call = resources.find_call(uri)
    if call is None:
        all_resources = [*resources.list_fixed(), *resources.list_templates()]
        known_uris = ", ".join(known_uri for known_uri, _ in all_resources)
        message = f"there is no resource {uri[:200]!r}; next: use one of {known_uris}"
        raise MCPError(_find_absent_code(version), message, {"uri": uri[: resources.LONGEST_URI]})
    return call


def _find_absent_code(version: str) -> int:
    return INVALID_PARAMS if version in MODERN_PROTOCOL_VERSIONS else _NOT_FOUND


async def subscribe(
    tools: ToolServer, client: object, params: SubscribeRequestParams
) -> EmptyResult:
    uri = str(params.uri)
    require_call(uri)
    if not tools.announcements.subscribe(client, uri):
        raise MCPError(
            INVALID_PARAMS, "this session watches too many resources; next: unsubscribe from one"
        )
    return EmptyResult()


async def unsubscribe(
    tools: ToolServer, client: object, params: UnsubscribeRequestParams
) -> EmptyResult:
    tools.announcements.unsubscribe(client, str(params.uri))
    return EmptyResult()


def list_prompts() -> ListPromptsResult:
    return ListPromptsResult(
        prompts=[
            Prompt(
                name=prompt.name,
                title=prompt.title,
                description=prompt.about,
                arguments=[
                    PromptArgument(
                        name=prompt.argument, description=prompt.argument_about, required=True
                    )
                ],
            )
            for prompt in prompts.PROMPTS
        ]
    )


def get_prompt(params: GetPromptRequestParams) -> GetPromptResult:
    try:
        text = prompts.write_prompt(params.name, params.arguments or {})
    except AstraError as error:
        message = f"{error.detail}; next: {error.next_step}"
        raise MCPError(INVALID_PARAMS, message, error.as_dict()) from None
    message = PromptMessage(role="user", content=TextContent(text=text))
    return GetPromptResult(description=prompts.find_prompt(params.name).about, messages=[message])


async def complete(
    tools: ToolServer, session: Session, params: CompleteRequestParams
) -> CompleteResult:
    """Complete an id or a path from what the session could list itself."""
    about = params.ref.name if isinstance(params.ref, PromptReference) else str(params.ref.uri)
    argument = params.argument
    if argument.name == "path":
        values = await _list_members(tools, session, "list_source_files", "path", limit=1000)
    elif argument.name == "change" or (argument.name == "id" and "changes" in about):
        values = await _list_members(tools, session, "astra.changes.list", "id", limit=200)
    elif argument.name == "id" and "plans" in about:
        values = await _list_members(tools, session, "astra.plans.list", "id", limit=200)
    else:
        values = []
    matching = [value for value in values if argument.value in value]
    first_values = matching[:_MOST_COMPLETIONS]
    return CompleteResult(
        completion=Completion(
            values=first_values, total=len(matching), has_more=len(matching) > len(first_values)
        )
    )


async def _list_members(
    tools: ToolServer, session: Session, tool: str, member: str, *, limit: int
) -> list[str]:
    result = await tools.call(_structured(session), tool, {"limit": limit})
    page: dict[str, Any] = {} if result.is_error else result.structured_content or {}
    return [str(item[member]) for item in page.get("items", ())]


def _structured(session: Session) -> Session:
    """Give the same session, whose answers are made into resources here."""
    return replace(session, plain=False)


def _describe_fixed(uri: str, about: str) -> Resource:
    return Resource(uri=uri, name=uri.removeprefix("astra://"), description=about, mime_type=_JSON)


def _describe_file(item: dict[str, Any]) -> Resource:
    path = str(item["path"])
    return Resource(uri=resources.name_source(path), name=path, size=item["size"], mime_type=_TEXT)


def _build_refusal(result: CallToolResult, version: str) -> MCPError:
    reason: dict[str, Any] = result.structured_content or {}
    code = _find_absent_code(version) if reason.get("code") == "not_found" else INVALID_PARAMS
    data = {**reason, CORRELATION: (result.meta or {}).get(CORRELATION)}
    return MCPError(code, f"{reason.get('detail')}; next: {reason.get('next_step')}", data)
