"""Changes over HTTP. Proposing is a tool call; deciding needs a signature."""

import time
from typing import Annotated, Any

from fastapi import Body, FastAPI, Query, Request

from astra.bootstrap.runtime import Runtime
from astra.changes.lines import Remark, Side
from astra.changes.service import summarize_change
from astra.interfaces.daemon.models import ApprovalDetails, Page
from astra.interfaces.daemon.parameters import Off, ReadAs
from astra.interfaces.daemon.tool_routes import run_tool
from astra.interfaces.daemon.work_models import (
    ChangeBrief,
    ChangeProposed,
    ChangeShown,
    CommentGiven,
    DiffShown,
    DryRunShown,
    FindingsAndEvidence,
    LinesGiven,
    LinesShown,
    OutputShown,
    RejectionGiven,
)
from astra.tools.changes import ProposeArguments, parse_edits
from astra.trusted.changes import review
from astra.trusted.changes.model import State
from astra.trusted.door.requests import caller
from astra.trusted.kernel.paging import LARGEST_PAGE
from astra.trusted.policy.authority import Signed

Document = dict[str, Any]
_LONGEST_WAIT = 25.0


def add(app: FastAPI, runtime: Runtime) -> None:
    _add_read_routes(app, runtime)
    _add_proposal_routes(app, runtime)
    _add_decision_routes(app, runtime)
    _add_dry_run_routes(app, runtime)


def _add_read_routes(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/changes", response_model=Page[ChangeBrief])
    def list_changes(
        state: Annotated[str | None, Query()] = None,
        limit: Annotated[int, Query(ge=1, le=LARGEST_PAGE)] = 50,
        cursor: Annotated[str | None, Query()] = None,
    ) -> Document:
        changes, following = runtime.changes.book.list_page(state=state, limit=limit, cursor=cursor)
        return {"items": [summarize_change(change) for change in changes], "next": following}

    @app.get("/api/changes/{identifier}", response_model=ChangeShown)
    def show_change(
        identifier: str, wait: Annotated[float, Query(ge=0, le=_LONGEST_WAIT)] = 0
    ) -> Document:
        return _await_settled_change(runtime, identifier, wait)

    @app.get("/api/changes/{identifier}/diff", response_model=DiffShown)
    def show_diff(identifier: str) -> Document:
        change = runtime.changes.book.get(identifier)
        text = runtime.changes.diff(identifier).decode(errors="backslashreplace")
        revision = {"id": change.id, "commit": change.commit, "base": change.base}
        return {**revision, **change.facts["diff"], "diff": text}

    @app.get("/api/changes/{identifier}/lines", response_model=LinesShown)
    def show_lines(
        identifier: str,
        path: Annotated[str, Query(max_length=4096)],
        start: Annotated[int, Query(ge=1)],
        end: Annotated[int, Query(ge=1)],
        side: Annotated[Side, Query()] = "new",
    ) -> Document:
        """Give lines of a file of the change that the diff leaves out, at most 500 at once."""
        return runtime.changes.read_lines(identifier, path=path, side=side, start=start, end=end)

    @app.get("/api/changes/{identifier}/output", response_model=OutputShown)
    def show_output(identifier: str, after: Annotated[int, Query(ge=0)] = 0) -> Document:
        """Give what the tests of a change printed behind a position, while they run."""
        text, position = runtime.change_parts.live_output.read(identifier, after)
        return {"text": text.decode(errors="replace"), "position": position}

    @app.get("/api/changes/{identifier}/evidence", response_model=FindingsAndEvidence)
    def show_evidence(identifier: str) -> Document:
        change_details = runtime.changes.describe_change(identifier)
        return {name: change_details[name] for name in ("id", "commit", "findings", "evidence")}


def _add_proposal_routes(app: FastAPI, runtime: Runtime) -> None:
    @app.post("/api/changes", response_model=ChangeProposed)
    def propose_change(
        request: Request,
        proposal: Annotated[Document, Body(), ReadAs(ProposeArguments)],
        astra_off: Off = "",
    ) -> Document:
        return run_tool(runtime, request, "schedule_code_modification", proposal, off=astra_off)

    @app.post("/api/changes/{identifier}/test", response_model=ChangeShown)
    def test_change(request: Request, identifier: str) -> Document:
        runtime.changes.remarks.renew(identifier, actor=caller(request))
        return runtime.changes.describe_change(identifier)

    @app.post("/api/changes/{identifier}/comments", response_model=ChangeShown)
    def comment_on_change(request: Request, identifier: str, given: CommentGiven) -> Document:
        """Say something, or send it back; the words and the remarks are recorded together."""
        remarks = runtime.changes.remarks
        say = remarks.request_changes if given.request_changes else remarks.comment
        actor, remarks = caller(request), _read_remarks(given)
        say(identifier, given.text, actor=actor, remarks=remarks, seen=given.commit)
        return runtime.changes.describe_change(identifier)


def _add_decision_routes(app: FastAPI, runtime: Runtime) -> None:
    @app.post("/api/changes/{identifier}/approval", response_model=ApprovalDetails)
    def request_approval(
        identifier: str, *, despite_tests: Annotated[bool, Body(embed=True)] = False
    ) -> Document:
        """Give the approval that waits for exactly this change; ask again where it expired.

        A change whose tests did not pass is asked for only with `despite_tests`, and then that is
        a term of what is signed.
        """
        change = runtime.changes.book.get(identifier)
        waits = change.state is State.AWAITING or (
            change.state is State.TESTS_FAILED and despite_tests
        )
        if waits and change.approval is None:
            runtime.changes.merges.ask(identifier, despite_tests=despite_tests)
            change = runtime.changes.book.get(identifier)
        return runtime.desk.details(review.require_approval(change))

    @app.post("/api/changes/{identifier}/approve", response_model=ChangeShown)
    def approve_change(
        identifier: str, authority: Annotated[Document, Body(embed=True)]
    ) -> Document:
        approval = review.require_approval(runtime.changes.book.get(identifier))
        runtime.desk.grant(approval, Signed.read(authority))
        return runtime.changes.describe_change(identifier)

    @app.post("/api/changes/{identifier}/reject", response_model=ChangeShown)
    def reject_change(request: Request, identifier: str, given: RejectionGiven) -> Document:
        """Turn a change down; the reason and the remarks are recorded together."""
        actor, remarks = caller(request), _read_remarks(given)
        reject = runtime.changes.remarks.reject
        reject(identifier, given.reason, actor=actor, remarks=remarks, seen=given.commit)
        return runtime.changes.describe_change(identifier)


def _add_dry_run_routes(app: FastAPI, runtime: Runtime) -> None:
    @app.post("/api/dry-runs", response_model=DryRunShown)
    def begin_dry_run(proposal: Annotated[Document | None, Body()] = None) -> Document:
        tool = runtime.registry.find("schedule_code_modification")
        return runtime.change_parts.dry_runs.begin(
            parse_edits(tool.parse({"reason": "a dry run", **(proposal or {})}))
        )

    @app.post("/api/dry-runs/{identifier}/approve", response_model=DryRunShown)
    def approve_dry_run(
        identifier: str, authority: Annotated[Document, Body(embed=True)]
    ) -> Document:
        return runtime.change_parts.dry_runs.approve(identifier, Signed.read(authority))


def _read_remarks(given: LinesGiven) -> list[Remark]:
    return [Remark(**remark.model_dump()) for remark in given.remarks]


def _await_settled_change(runtime: Runtime, identifier: str, seconds: float) -> Document:
    """Show a change once nothing of it is under way, or after so many seconds as it is."""
    deadline = time.monotonic() + seconds
    while True:
        head = runtime.ledger.head().sequence
        change_details = runtime.changes.describe_change(identifier)
        seconds_left = deadline - time.monotonic()
        between = (
            change_details["state"] == State.AWAITING and change_details["approval_id"] is None
        )
        if (change_details["state"] not in _UNDER_WAY and not between) or seconds_left <= 0:
            return change_details
        runtime.ledger.wait(head, min(seconds_left, 1.0))


_UNDER_WAY = frozenset({State.GATHERING, State.GRANTED, State.APPROVED})
