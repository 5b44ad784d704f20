"""`astra passkeys enroll|list|revoke`."""

import argparse
import time
from typing import Any

from astra.interfaces.cli.main import Context
from astra.interfaces.cli.tables import render_table
from astra.trusted.kernel.errors import Refused

_PAUSE, _PATIENCE = 1.0, 600.0


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    new = actions.add_parser("enroll", help="make one in a browser; asks for the passphrase")
    new.add_argument("--name", default="passkey", help="what to call it: my phone")
    new.add_argument("--yes", action="store_true", help="the page shows the digits I was shown")
    new.set_defaults(run=enroll)
    actions.add_parser("list", help="every passkey").set_defaults(run=list_passkeys)
    revoke = actions.add_parser("revoke", help="revoke one, at once; what it decided stays")
    revoke.add_argument("id", metavar="ID")
    revoke.set_defaults(run=revoke_passkey)


def enroll(context: Context) -> None:
    """Send a browser to make a passkey, then sign it here: only the key makes it count.

    Where the passphrase is typed, typing it says that the digits are the same; where it comes from
    the environment of a throwaway data root, that is asked.
    """
    from astra.interfaces.cli.signing import asks_for_passphrase, sign_action
    from astra.interfaces.cli.taking_over import ensure_page
    from astra.trusted.policy import passkeys

    ensure_page(context)
    link = context.client().post("/api/passkeys/enrolments")
    context.console.note(f"Open this once, within ten minutes:\n  {link['url']}")
    candidate = _wait_for(context, link["code"])
    digits = f"{candidate['check'][:3]} {candidate['check'][3:]}"
    if not asks_for_passphrase(context):
        context.console.confirm(f"Does the page show {digits}?", yes=context.arguments.yes)
    prompt = f"If the page shows {digits}, sign it with the operator's passphrase: "
    authority = sign_action(context, passkeys.ENROLLED, candidate["content"], prompt=prompt)
    body = {"content": candidate["content"], "authority": authority}
    answer = context.client().post("/api/passkeys", body)
    context.console.print_result(
        answer, f"done: {answer['id']} may decide in your name, at {answer['origin']}"
    )


def list_passkeys(context: Context) -> None:
    page = context.client().get("/api/passkeys")
    rows = [
        (
            item["id"],
            "revoked" if item["revoked_at"] else "active",
            f"at {item['origin']}",
            item["name"],
        )
        for item in page["items"]
    ]
    lines = render_table(context.console, ("passkey", "state", "where", "name"), rows)
    context.console.print_result(page, *(lines or ["there are no passkeys"]))


def revoke_passkey(context: Context) -> None:
    answer = context.client().post(f"/api/passkeys/{context.arguments.id}/revoke")
    context.console.print_result(answer, f"revoked {answer['id']}")


def _wait_for(context: Context, code: str) -> dict[str, Any]:
    deadline = time.monotonic() + _PATIENCE
    body = {"code": code, "name": context.arguments.name}
    while time.monotonic() < deadline:
        candidate = context.client().post("/api/passkeys/enrolments/candidate", body)
        if candidate["content"]:
            return candidate
        time.sleep(_PAUSE)
    raise Refused(
        "no passkey was created in time", code="too_late", next_step="astra passkeys enroll"
    )
