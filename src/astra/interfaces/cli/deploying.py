"""`astra deploy`, `astra releases`, `astra rollback [RELEASE]`."""

import argparse
import time
from typing import Any

from astra.interfaces.cli.live_difference import (
    fetch_difference,
    list_rows,
    note_difference,
    render_difference,
)
from astra.interfaces.cli.main import Context
from astra.interfaces.cli.tables import render_table
from astra.trusted.kernel.clock import show_time
from astra.trusted.kernel.text import one_line, printable

_PAUSE = 0.2
_LONGEST_WAIT = 120.0
_SHORTEST = 6
_SHOWN_LINES = 15
_REQUESTED, _DECLINED = "deployment_requested", "deployment_declined"
_WORDS = {
    "requested": "building the release",
    "built": "starting it",
    "rolling_out": "going out in waves: astra releases --fleet",
    "switched": "it serves; watching it",
    "rolling_back": "it failed; bringing the last good release back",
}


def configure(parser: argparse.ArgumentParser, command: str) -> None:
    if command == "releases":
        parser.add_argument("--all", action="store_true", help="also those that were removed")
        parser.add_argument("--fleet", action="store_true", help="what each instance runs")
        parser.set_defaults(run=list_releases)
        return
    parser.add_argument("--no-wait", action="store_true", help="do not wait for the outcome")
    if command == "rollback":
        parser.add_argument("release", metavar="RELEASE", nargs="?", help="default: the last good")
        parser.add_argument(
            "--keep-state",
            action="store_true",
            help="leave the app's state as before_start made it",
        )
        parser.set_defaults(run=roll_back)
        return
    parser.add_argument("--change", metavar="ID", help="an approved change; default: the branch")
    parser.add_argument("--force", action="store_true", help="insist, also on a quarantined commit")
    parser.add_argument(
        "--preview", action="store_true", help="show what would change in service; sign nothing"
    )
    add_despite_quarantine(parser)
    parser.set_defaults(run=deploy)


def add_despite_quarantine(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--despite-quarantine",
        action="append",
        default=[],
        metavar="COMMIT",
        help="deploy although this commit, which failed in service, is still inside",
    )


def expand_commit_ids(given: list[str], known: list[str]) -> list[str]:
    """Spell commits in full, as they are signed; what is not known stays as it was given."""

    def whole(text: str) -> str:
        matching = (commit for commit in known if commit.startswith(text))
        return next(matching, text) if len(text) > _SHORTEST else text

    return [whole(text) for text in given]


def list_releases(context: Context) -> None:
    if context.arguments.fleet:
        show_fleet(context)
        return
    page = context.client().get("/api/releases", every=context.arguments.all)
    rows = [
        (
            "→" if item["live"] else " ",
            item["id"],
            _name_state(item),
            "good" if item["good"] else "",
            f"{item['files']:6} files",
            item["about"] or "as it came with the target",
        )
        for item in page["items"]
    ]
    lines = render_table(context.console, ("", "release", "state", "health", "files", "what"), rows)
    context.console.print_result(page, *(lines or ["nothing was deployed yet"]))


def show_fleet(context: Context) -> None:
    """Show every instance: what it runs, how far it is, since when, and in which wave."""
    page = context.client().get("/api/fleet")
    rows = [
        (
            item["instance"],
            item["release"] or "nothing yet",
            item["state"] + ("" if item["present"] else ", away"),
            show_time(item["since"]) if item["since"] else "",
            str(item["wave"] or ""),
            one_line(item["reason"], 100),
        )
        for item in page["items"]
    ]
    heads = ("instance", "release", "state", "since", "wave", "why")
    lines = [*render_table(context.console, heads, rows), *_describe_rollout(page["rollout"])]
    nobody = "there is no fleet: name its instances in [deploy.fleet] of astra.toml"
    context.console.print_result(page, *(lines if rows else [nobody]))


def _describe_rollout(rollout: dict[str, Any] | None) -> list[str]:
    if rollout is None or rollout["phase"] == "over":
        return []
    waves = f"wave {rollout['wave']} of {len(rollout['waves'])}"
    progress = {"wave": f"{waves} goes out", "watch": f"{waves} is watched"}
    going_back = f"going back to {rollout['recorded']}: {one_line(rollout['reason'], 300)}"
    return [f"{rollout['release']}: {progress.get(rollout['phase'], going_back)}"]


def _name_state(release: dict[str, Any]) -> str:
    return release["state"] + (", quarantined" if release["quarantined"] else "")


def preview(context: Context) -> None:
    """Show the whole difference between what is live and what would be."""
    difference = fetch_difference(context, context.arguments.change)
    summary = render_difference(difference, context.console.paint)
    rows = (printable(row) for row in list_rows(difference))
    context.console.print_result(difference, *summary, *rows)


def deploy(context: Context) -> int:
    """Have the operator sign exactly this commit, and follow it until the outcome is known."""
    from astra.deployments import events
    from astra.interfaces.cli.signing import sign_action

    arguments, client = context.arguments, context.client()
    if arguments.preview:
        preview(context)
        return 0
    order = client.get("/api/deployments/order", change=arguments.change)
    if order["live"] and not arguments.force:
        return _tell_already_live(context, order)
    content = events.order_content(
        commit=order["commit"],
        digest=order["digest"],
        force=arguments.force,
        despite=expand_commit_ids(arguments.despite_quarantine, order["contains"]),
    )
    note_difference(context, fetch_difference(context, arguments.change))
    for line in (*_describe_waves(order["waves"]), *_warn_about_failed_changes(order)):
        context.console.note(line)
    authority = sign_action(context, events.ORDERED, content)
    body = {"change": arguments.change, "authority": authority}
    deployment = _follow_deployment(context, client.post("/api/deployments", body))
    document = {
        "success": deployment["state"] in {"settled", "switched"} or deployment["open"],
        "commit_hash": deployment["commit"],
        "tests_passed": order["tests_passed"],
        "human_approval_required": order["human_approval_required"],
        "deployed": deployment["state"] in {"settled", "switched"},
        "backup_location": deployment["backup"],
        "deployment": deployment,
    }
    context.console.print_result(document, *_describe_deployment(deployment))
    return 0 if document["success"] else 1


def _tell_already_live(context: Context, order: dict[str, Any]) -> int:
    """Say that there is nothing to build, and ask for no passphrase."""
    document = {
        "success": True,
        "commit_hash": order["commit"],
        "tests_passed": order["tests_passed"],
        "human_approval_required": False,
        "deployed": True,
        "backup_location": None,
        "deployment": None,
    }
    line = f"{order['live']} is live already, with this commit and these settings; nothing to build"
    context.console.print_result(document, line)
    return 0


def roll_back(context: Context) -> int:
    from astra.deployments import events
    from astra.interfaces.cli.signing import sign_action

    arguments, client = context.arguments, context.client()
    content = client.get(
        "/api/rollback", release=arguments.release, keep_state=arguments.keep_state
    )
    authority = sign_action(context, events.ROLLBACK_ORDERED, content)
    body = {"release": content["release"], "authority": authority}
    deployment = _follow_deployment(context, client.post("/api/rollback", body))
    is_done = deployment["state"] in {"settled", "switched"} or deployment["open"]
    context.console.print_result(
        {"release": deployment["release"], "deployment": deployment},
        *_describe_deployment(deployment),
    )
    return 0 if is_done else 1


def follow_approved_change(context: Context, change: dict[str, Any], *, after: int) -> int:
    """Wait for the deployment that a change's approval included, and say what became of it.

    `after` is the record of the approval: what it leads to comes behind it.
    """
    record = _wait_for_deployment(context, change["id"], after)
    if record is None:
        document = {**change, "deployment": None}
        context.console.print_result(document, "merged; its deployment has not begun: astra status")
        return 1
    if record["type"] == _DECLINED:
        reason = one_line(record["data"]["reason"], 500)
        document = {**change, "deployment": None, "declined": record["data"]}
        context.console.print_result(document, f"merged, and not deployed: {reason}")
        return 1
    deployment_page = context.client().get(f"/api/deployments/{record['data']['deployment']}")
    deployment = _follow_deployment(context, deployment_page)
    context.console.print_result(
        {**change, "deployment": deployment}, *_describe_deployment(deployment)
    )
    return 0 if deployment["state"] == "settled" else 1


def _wait_for_deployment(context: Context, change: str, after: int) -> dict[str, Any] | None:
    deadline = time.monotonic() + _LONGEST_WAIT
    while time.monotonic() < deadline:
        story = context.client().get(f"/api/ledger/story/{change}", cursor=after)
        for record in story["items"]:
            if record["type"] in {_REQUESTED, _DECLINED} and record["data"]["change"] == change:
                return record
        time.sleep(_PAUSE)
    return None


def _follow_deployment(context: Context, deployment: dict[str, Any]) -> dict[str, Any]:
    """Wait until it is settled, telling each step once."""
    client, last_state = context.client(), ""
    while deployment["open"] and not context.arguments.no_wait:
        if deployment["state"] != last_state:
            last_state = deployment["state"]
            context.console.note(_WORDS[last_state])
        time.sleep(_PAUSE)
        deployment = client.get(f"/api/deployments/{deployment['id']}")
    return client.get(f"/api/deployments/{deployment['id']}")


def _describe_deployment(found: dict[str, Any]) -> list[str]:
    reason = one_line(found["reason"], 500)
    release, back = found["release"], found["rollback_to"] or "another release"
    instead = f" in place of {found['replaced']}" if found["replaced"] else ""
    sentences = {
        "settled": f"{release} serves{instead} and stayed healthy",
        "failed": f"{release} was not put into service: {reason}",
        "rolled_back": f"{release} failed and was taken back: {reason}; {back} serves again",
        "rollback_failed": f"{release} failed and NOTHING GOOD COULD BE BROUGHT BACK: {reason}",
    }
    lines = [sentences.get(found["state"], f"{found['id']} is under way: astra releases")]
    lines += _name_instances(found.get("instances") or {})
    if found["cut"]:
        lines.append(f"{found['cut']} requests were cut when what it replaced had to end")
    return [*lines, *_quote_output(found["output"]), *_offer_revert(found.get("revert"))]


def _name_instances(instances: dict[str, str]) -> list[str]:
    """Name every instance of a fleet with what became of it."""
    return [f"  {label}: {state}" for label, state in instances.items()]


def _quote_output(output: str) -> list[str]:
    """Show the app's last lines; they were masked and escaped when they were recorded."""
    lines = [one_line(line, 200) for line in output.splitlines()[-_SHOWN_LINES:]]
    return ["the app's last lines:", *(f"  | {line}" for line in lines)] if lines else []


def _offer_revert(change: str | None) -> list[str]:
    """Say that the branch still holds what was taken out of service, and how to undo it."""
    if not change:
        return []
    return [
        f"the branch still holds {change}, and the next deployment would contain it",
        f"  next: astra changes revert {change} --deploy",
    ]


def _describe_waves(waves: list[list[str]]) -> list[str]:
    """Say before the signature which instances get it, and in which order."""
    return [f"wave {number}: {', '.join(wave)}" for number, wave in enumerate(waves, start=1)]


def _warn_about_failed_changes(order: dict[str, Any]) -> list[str]:
    """Say before the signature what of this failed in service before."""
    return [
        line
        for change in order["to_revert"]
        for line in (
            f"warning: this contains {change}, which failed in service and was taken back",
            f"  to take it out of the branch first: astra changes revert {change} --deploy",
        )
    ]
