"""`astra passkeys enroll|list|revoke`."""

import argparse
import time
from typing import Any

from astra.interfaces.cli.main import Context
from astra.trusted.kernel.errors import Refused
from astra.trusted.kernel.text import printable

_PAUSE, _PATIENCE = 1.0, 600.0


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    new = actions.add_parser("enroll", help="make one in a browser; asks for the passphrase")
    new.add_argument("--name", default="passkey", help="what to call it: my phone")
    new.add_argument("--yes", action="store_true", help="the page shows the digits I was shown")
    new.set_defaults(run=enroll)
    actions.add_parser("list", help="every passkey").set_defaults(run=list_passkeys)
    revoke = actions.add_parser("revoke", help="silence one, at once; what it decided stays")
    revoke.add_argument("id", metavar="ID")
    revoke.set_defaults(run=revoke_passkey)


def enroll(context: Context) -> None:
    """Send a browser to make a passkey, then sign it here: only the key makes it count."""
    from astra.interfaces.cli.signing import signed
    from astra.trusted.policy import passkeys

    link = context.client().post("/api/passkeys/enrolments")
    context.console.note(f"Open this once, within ten minutes:\n  {link['url']}")
    candidate = _wait_for(context, link["code"])
    context.console.confirm(
        f"Does the page show {candidate['check'][:3]} {candidate['check'][3:]}?",
        yes=context.arguments.yes,
    )
    authority = signed(context, passkeys.ENROLLED, candidate["content"])
    body = {"content": candidate["content"], "authority": authority}
    answer = context.client().post("/api/passkeys", body)
    context.console.result(answer, f"{answer['id']} may decide in your name, at {answer['origin']}")


def list_passkeys(context: Context) -> None:
    page = context.client().get("/api/passkeys")
    lines = [
        f"{item['id']}  {'revoked ' if item['revoked_at'] else ''}{printable(item['name'])}"
        f"  at {item['origin']}"
        for item in page["items"]
    ]
    context.console.result(page, *(lines or ["there are no passkeys"]))


def revoke_passkey(context: Context) -> None:
    answer = context.client().post(f"/api/passkeys/{context.arguments.id}/revoke")
    context.console.result(answer, f"revoked {answer['id']}")


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
