"""`astra servers [list|show|accept]`: other MCP servers, and the tools that you signed for."""

import argparse
from typing import Any

from astra.interfaces.cli.main import Context
from astra.trusted.kernel.text import one_line, printable

_TIERS = ("reads", "writes here", "asks you each time")
_COLOURS = {"usable": "green", "changed": "red", "new": "yellow", "gone": "dim"}


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    parser.set_defaults(run=list_servers)
    actions = parser.add_subparsers(metavar="ACTION")
    listing = actions.add_parser("list", help="every server of the signed configuration")
    listing.set_defaults(run=list_servers)
    showing = actions.add_parser("show", help="its tools, their tiers, and which of them rest")
    showing.add_argument("name", metavar="NAME")
    showing.set_defaults(run=show_server)
    accepting = actions.add_parser(
        "accept", help="sign for its tools as it lists them now; asks for the passphrase"
    )
    accepting.add_argument("name", metavar="NAME")
    accepting.set_defaults(run=accept_tools)


def list_servers(context: Context) -> None:
    page = context.client().get("/api/servers")
    lines = [_render_server(context, item) for item in page["items"]]
    none = "astra.toml names no other MCP server; docs/howto/other-servers.md says how"
    context.console.print_result(page, *(lines or [none]))


def show_server(context: Context) -> None:
    details = context.client().get(f"/api/servers/{context.arguments.name}")
    lines = [
        _render_server(context, details),
        f"  {printable(details['where'])}",
        *(
            f"  {label:10} {printable(', '.join(details[key]))}"
            for label, key in (
                ("can read", "read_paths"),
                ("can write", "write_paths"),
                ("can reach", "network"),
                ("secrets", "secrets"),
            )
            if details[key]
        ),
        *(_render_tool(context, item) for item in details["tools"]),
    ]
    context.console.print_result(details, *lines)


def accept_tools(context: Context) -> None:
    from astra.interfaces.cli.signing import sign_action

    name = context.arguments.name
    content = context.client().post(f"/api/servers/{name}/look")
    details = context.client().get(f"/api/servers/{name}")
    states = {item["name"]: item for item in details["tools"]}
    for item in content["tools"]:
        context.console.note(_render_tool(context, states[item["name"]]))
        context.console.note(f"    {printable(item['description'])}")
        context.console.note(f"    {printable(item['input_schema'])}")
    authority = sign_action(context, "server_tools_accepted", content)
    body = {"content": content, "authority": authority}
    answer = context.client().post(f"/api/servers/{name}/accept", body)
    context.console.print_result(
        answer, f"{answer['usable']} tools of {name} may be called, each by the tier that you gave"
    )


def _render_server(context: Context, item: dict[str, Any]) -> str:
    state = "running" if item["running"] else "starts when it is called"
    if item["trouble"]:
        state = context.console.paint(f"does not run: {one_line(item['trouble'])}", "red")
    resting = f", {item['resting']} rest" if item["resting"] else ""
    if item["resting"]:
        resting = context.console.paint(f"{resting} (astra servers accept {item['name']})", "red")
    return f"{item['name']:20} {item['usable']} tools{resting}; {state}"


def _render_tool(context: Context, item: dict[str, Any]) -> str:
    state = context.console.paint(f"{item['state']:8}", _COLOURS[item["state"]])
    tier = f"tier {item['tier']}, {_TIERS[item['tier']]}"
    return f"  {state} {printable(item['imported_as'])}  ({tier})"
