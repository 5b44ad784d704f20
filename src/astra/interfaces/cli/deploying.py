"""`astra deploy`, `astra releases`, `astra rollback [RELEASE]`."""

import argparse
import time
from typing import Any

from astra.interfaces.cli.main import Context
from astra.trusted.kernel.text import one_line

_PAUSE = 0.2
_SHORTEST = 6
_WORDS = {
    "requested": "building the release",
    "built": "starting it beside the one that serves",
    "switched": "it serves; watching it",
    "rolling_back": "it failed; bringing the last good release back",
}


def configure(parser: argparse.ArgumentParser, command: str) -> None:
    if command == "releases":
        parser.add_argument("--all", action="store_true", help="also those that were removed")
        parser.set_defaults(run=list_releases)
        return
    parser.add_argument("--no-wait", action="store_true", help="do not wait for the outcome")
    if command == "rollback":
        parser.add_argument("release", metavar="RELEASE", nargs="?", help="default: the last good")
        parser.set_defaults(run=roll_back)
        return
    parser.add_argument("--change", metavar="ID", help="an approved change; default: the branch")
    parser.add_argument("--force", action="store_true", help="insist, also on a quarantined commit")
    add_despite(parser)
    parser.set_defaults(run=deploy)


def add_despite(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--despite-quarantine",
        action="append",
        default=[],
        metavar="COMMIT",
        help="deploy although this commit, which failed in service, is still inside",
    )


def whole_ids(given: list[str], known: list[str]) -> list[str]:
    """Spell commits in full, as they are signed; what is not known stays as it was given."""

    def whole(text: str) -> str:
        matching = (commit for commit in known if commit.startswith(text))
        return next(matching, text) if len(text) > _SHORTEST else text

    return [whole(text) for text in given]


def list_releases(context: Context) -> None:
    page = context.client().get("/api/releases", every=context.arguments.all)
    lines = [
        f"{'→' if item['live'] else ' '} {item['id']}  {item['state']:9} "
        f"{'good' if item['good'] else '':5}{item['files']:6} files"
        for item in page["items"]
    ]
    context.console.result(page, *(lines or ["nothing was deployed yet"]))


def deploy(context: Context) -> int:
    """Have the operator sign exactly this commit, and follow it until the outcome is known."""
    from astra.deployments import events
    from astra.interfaces.cli.signing import signed

    arguments, client = context.arguments, context.client()
    order = client.get("/api/deployments/order", change=arguments.change)
    content = events.order_content(
        commit=order["commit"],
        digest=order["digest"],
        force=arguments.force,
        despite=whole_ids(arguments.despite_quarantine, order["contains"]),
    )
    authority = signed(context, events.ORDERED, content)
    body = {"change": arguments.change, "authority": authority}
    deployment = _followed(context, client.post("/api/deployments", body))
    document = {
        "success": deployment["state"] in {"settled", "switched"} or deployment["open"],
        "commit_hash": deployment["commit"],
        "tests_passed": order["tests_passed"],
        "human_approval_required": order["human_approval_required"],
        "deployed": deployment["state"] in {"settled", "switched"},
        "backup_location": deployment["backup"],
        "deployment": deployment,
    }
    context.console.result(document, *_told(deployment))
    return 0 if document["success"] else 1


def roll_back(context: Context) -> int:
    from astra.deployments import events
    from astra.interfaces.cli.signing import signed

    arguments, client = context.arguments, context.client()
    content = client.get("/api/rollback", release=arguments.release)
    authority = signed(context, events.ROLLBACK_ORDERED, content)
    body = {"release": content["release"], "authority": authority}
    deployment = _followed(context, client.post("/api/rollback", body))
    is_done = deployment["state"] in {"settled", "switched"} or deployment["open"]
    context.console.result(
        {"release": deployment["release"], "deployment": deployment}, *_told(deployment)
    )
    return 0 if is_done else 1


def _followed(context: Context, found: dict[str, Any]) -> dict[str, Any]:
    """Wait until it is settled, telling each step once."""
    client, last_state = context.client(), ""
    while found["open"] and not context.arguments.no_wait:
        if found["state"] != last_state:
            last_state = found["state"]
            context.console.note(_WORDS[last_state])
        time.sleep(_PAUSE)
        found = client.get(f"/api/deployments/{found['id']}")
    return found


def _told(found: dict[str, Any]) -> list[str]:
    reason = one_line(found["reason"], 500)
    sentences = {
        "settled": f"{found['release']} serves and stayed healthy",
        "failed": f"{found['release']} was not put into service: {reason}",
        "rolled_back": f"{found['release']} failed and was taken back: {reason}",
        "rollback_failed": f"{found['release']} failed and nothing good could be brought back",
    }
    return [sentences.get(found["state"], f"{found['id']} is under way: astra releases")]
