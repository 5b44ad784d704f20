"""`astra changes revert ID [--deploy]`: the inverse of a merged change, as a change."""

import argparse

from astra.interfaces.cli import approvals
from astra.interfaces.cli.main import Context
from astra.trusted.kernel.text import quote_text


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="a merged change (chg_…)")
    parser.add_argument("--reason", default="", help="why; default: that it is taken back")
    approvals.add_terms(parser)
    parser.set_defaults(run=revert)


def revert(context: Context) -> None:
    """Propose the inverse; with --deploy, have the operator sign it and deploy it as well."""
    from astra.interfaces.cli import changes

    arguments = context.arguments
    reason = arguments.reason or _word_reason(context, arguments.id)
    proposal = {"reverts": arguments.id, "reason": reason}
    change = context.client().post("/api/changes", proposal)
    if arguments.deploy or not arguments.no_wait:
        change = changes.wait_for_evidence(context, change)
    if not arguments.deploy:
        changes.print_proposal(context, change)
        return
    arguments.id = change["id"]
    approvals.approve(context)


def _word_reason(context: Context, change_id: str) -> str:
    """Say what is taken back in the words of its change, as reviews and releases will show it."""
    change = context.client().get(f"/api/changes/{change_id}")
    return f"take back {quote_text(change['reason'])}"
