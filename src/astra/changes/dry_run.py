"""A dry run: the whole path of a change, on a throwaway copy, with a transcript to keep.

Schedule, evidence, approval, execution, diff: the same code as for a real change, over a clone of
the trusted repository and a ledger of its own, with the real scanner and the real sandbox. The
operator's own signature is what lets it go on, so that an approval is rehearsed too. Nothing of the
target moves and nothing is deployed; it works while code writing is off, and is meant to be run
before it is turned on.
"""

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from astra.changes import counting
from astra.changes.code_identity import code_digest
from astra.changes.edits import Edit, WholeFile
from astra.changes.proposing import Proposal
from astra.changes.service import Changes
from astra.trusted.approvals import desk
from astra.trusted.changes import model
from astra.trusted.changes.evidence import TestVerdict
from astra.trusted.changes.model import Change
from astra.trusted.changes.ports import Imported
from astra.trusted.kernel.clock import Clock, format_time, parse_time, show_time
from astra.trusted.kernel.errors import NotFound, Refused
from astra.trusted.kernel.ids import random_id
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.kernel.text import printable
from astra.trusted.ledger import views
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event, Record
from astra.trusted.ledger.verification import Report
from astra.trusted.policy import authority, contract, flags
from astra.trusted.policy.authority import Signed

APPROVED, COMPLETED = "dry_run_approved", "dry_run_completed"
FILE = "ASTRA_DRY_RUN.md"
SCREENSHOT = "app.png"
CODE_WRITE = "ASTRA_CODE_WRITE_ENABLED"


class DueSteps(Protocol):
    """What runs the steps of changes."""

    def run_due(self) -> int: ...

    def stop(self) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Screenshot:
    """What the app looks like, as a PNG; or why there is no picture."""

    picture: bytes = b""
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A data root made to be thrown away, and everything that a change needs over it."""

    ledger: Ledger
    changes: Changes
    steps: DueSteps
    verify: Callable[[], Report]
    take_screenshot: Callable[[str], Screenshot]
    """Takes a picture of the app at a commit of the stage."""
    close: Callable[[], None]
    discard: Callable[[], None]


class NoImports:
    """A dry run has no clone to read from."""

    def read(self, branch: str, **_more: Any) -> Imported:
        raise Refused(f"a dry run reads no branch ({branch})", next_step="give edits")

    def read_edits(self, **_more: Any) -> None:
        return None


class DryRunFiles(Protocol):
    """Where dry runs take place, and where what is worth keeping of them goes."""

    def clear(self) -> None:
        """Remove what an earlier daemon left."""
        ...

    def keep(self, identifier: str, files: Mapping[str, bytes]) -> str:
        """Write files of a dry run down; gives their folder, relative to the data root."""
        ...


@dataclass(frozen=True, kw_only=True)
class DryRun:
    """One dry run under way."""

    id: str
    stage: Stage
    operator: KeyPair
    change: Change

    @property
    def digest(self) -> str:
        change = self.stage.changes.book.get(self.change.id)
        return self.stage.changes.bench.desk.get(str(change.approval)).digest

    def approve(self) -> None:
        """Let it go on, by the word of the throwaway root's own operator."""
        ledger, changes = self.stage.ledger, self.stage.changes
        the_desk = changes.bench.desk
        change = changes.book.get(self.change.id)
        approval = the_desk.get(str(change.approval))
        terms = {"consent": change.facts["protected"]} if change.facts["protected"] else {}
        signed_grant = _sign_statement(
            ledger, self.operator, desk.GRANTED, desk.content(approval, terms)
        )
        the_desk.grant(approval.id, signed_grant)
        self.stage.steps.run_due()

    def transcript(self) -> list[str]:
        records = views.records(self.stage.ledger, limit=1000)
        lines = [_render_record(record) for record in records]
        change = self.stage.changes.describe_change(self.change.id)
        diff = self.stage.changes.diff(self.change.id).decode(errors="replace")
        return [
            f"dry run {self.id} of {change['id']}: {change['state']}",
            *lines,
            f"findings: {len(change['findings'] or ())}; {change['evidence']['words']}",
            _describe_mutants(change["evidence"]),
            *printable(diff).rstrip("\n").split("\n"),
        ]

    def close(self) -> None:
        self.stage.steps.stop()
        self.stage.close()


@dataclass(frozen=True, kw_only=True)
class DryRuns:
    ledger: Ledger
    clock: Clock
    files: DryRunFiles
    tests_required: Callable[[], bool]
    open_stage: Callable[[str], Stage]
    """Makes a stage for a dry run with this id."""
    _open: dict[str, DryRun] = field(default_factory=dict[str, DryRun])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, edits: Sequence[Edit] = ()) -> dict[str, Any]:
        """Walk up to the decision: propose, admit, commit, scan, test, ask."""
        with self._lock:
            self.close()
            self.files.clear()
            dry_run = self._prepare_run(edits)
            self._open[dry_run.id] = dry_run
        change = dry_run.stage.changes.describe_change(dry_run.change.id)
        if change["state"] != model.State.AWAITING:
            return self._finish_run(dry_run)
        return {
            "id": dry_run.id,
            "state": change["state"],
            "digest": dry_run.digest,
            "transcript": dry_run.transcript(),
        }

    def approve(self, identifier: str, signed: Signed) -> dict[str, Any]:
        """Record the operator's rehearsed approval, and walk on to the end."""
        dry_run = self._open.get(identifier)
        if dry_run is None:
            raise NotFound(
                f"no dry run {identifier[:40]} is under way", next_step="astra changes dry-run"
            )
        data = {"dry_run": dry_run.id, "digest": dry_run.digest}
        event = Event(type=APPROVED, actor="operator", data=data, subject=dry_run.id)
        event = authority.signed_event(self.ledger, event, signed, now=self.clock.now())
        self.ledger.append([event])
        dry_run.approve()
        return self._finish_run(dry_run)

    def close(self) -> None:
        for dry_run in self._open.values():
            dry_run.close()
            dry_run.stage.discard()
        self._open.clear()

    def _finish_run(self, run: DryRun) -> dict[str, Any]:
        change = run.stage.changes.describe_change(run.change.id)
        transcript = run.transcript()
        counters = counting.count_changes(run.stage.changes.bench.ledger)
        screenshot = self._take_screenshot(run, change)
        folder = self._archive_run(run, transcript, change, screenshot)
        self._open.pop(run.id, None)
        run.close()
        report = run.stage.verify()
        run.stage.discard()
        tested = self._has_sufficient_tests(change["evidence"]["verdict"])
        summary = {
            "dry_run": run.id,
            "ok": change["state"] == model.State.EXECUTED and report.ok and tested,
            "code": code_digest(),
            "target": change["base"],
            "state": change["state"],
            "tests": change["evidence"]["verdict"],
            "mutants": _describe_mutants(change["evidence"]),
            "ledger_whole": report.ok,
            "records": report.records,
            "counters": counters,
            "folder": folder,
            "screenshot": SCREENSHOT if screenshot.picture else f"not taken: {screenshot.why}",
        }
        self.ledger.append([Event(type=COMPLETED, actor="daemon", data=summary, subject=run.id)])
        return {**summary, "id": run.id, "transcript": transcript, "diff": change["diff"]}

    def _has_sufficient_tests(self, verdict: str | None) -> bool:
        """Tell whether the tests count: passed, or none at all where the operator wants none."""
        absent = verdict in {TestVerdict.NEVER_RAN, TestVerdict.NO_TESTS}
        return verdict == TestVerdict.PASSED or (absent and not self.tests_required())

    def _take_screenshot(self, run: DryRun, change: dict[str, Any]) -> Screenshot:
        if change["state"] != model.State.EXECUTED:
            return Screenshot(why=f"the change is {change['state']}")
        return run.stage.take_screenshot(str(change["commit"]))

    def _archive_run(
        self, run: DryRun, transcript: list[str], change: dict[str, Any], screenshot: Screenshot
    ) -> str:
        records = [record.line for record in views.records(run.stage.ledger, limit=1000)]
        return self.files.keep(
            run.id,
            {
                "transcript.txt": "".join(f"{line}\n" for line in transcript).encode(),
                "ledger.ndjson": "".join(f"{line}\n" for line in records).encode(),
                "change.json": json.dumps(change, indent=2).encode(),
                **({SCREENSHOT: screenshot.picture} if screenshot.picture else {}),
            },
        )

    def _prepare_run(self, edits: Sequence[Edit]) -> DryRun:
        identifier, operator = random_id("dry"), KeyPair.generate()
        stage = self.open_stage(identifier)
        try:
            _begin_ledger(stage.ledger, operator)
            change = stage.changes.proposals.propose(
                Proposal(
                    reason=f"dry run {identifier}",
                    edits=edits or [self._make_harmless_edit(identifier)],
                ),
                actor="operator: dry run",
                correlation=random_id("cor"),
            )
            stage.steps.run_due()
        except BaseException:
            stage.close()
            stage.discard()
            raise
        return DryRun(id=identifier, stage=stage, operator=operator, change=change)

    def _make_harmless_edit(self, identifier: str) -> Edit:
        """Give an edit that the operator's own rules admit: a note, where files may be made."""
        allowed = contract.read_configuration(self.ledger).target.allowed_paths
        folders = [text for text in allowed if text.endswith("/") and "*" not in text]
        text = f"made by {identifier} at {format_time(self.clock.now())}\n"
        return WholeFile(path=f"{folders[0] if folders else ''}{FILE}", content=text.encode())


def _begin_ledger(ledger: Ledger, operator: KeyPair) -> None:
    """Begin a ledger as every one does, with an operator of its own, and code writing on."""
    created = {
        "root_id": random_id("root"),
        "throwaway": True,
        "operator_key": operator.public,
        "recovery_key": operator.public,
    }
    first = Event(type=authority.ROOT_CREATED, actor="operator", data=created, key="data-root")
    ledger.append([first])
    signed_flag = _sign_statement(
        ledger, operator, flags.FLAG_SET, flags.content(CODE_WRITE, on=True)
    )
    ledger.append([flags.turn_on(ledger, CODE_WRITE, signed_flag, now=_time_of(ledger))])


def _sign_statement(ledger: Ledger, key: KeyPair, action: str, content: dict[str, Any]) -> Signed:
    statement = authority.draft(
        action,
        content,
        root_id=authority.find_keys(ledger).root_id,
        head=views.settled_head(ledger),
        now=_time_of(ledger),
    )
    return authority.sign(statement, key)


def _time_of(ledger: Ledger) -> datetime:
    return parse_time(ledger.head().time)


def _describe_mutants(evidence: Mapping[str, Any]) -> str:
    """Say what the tests notice; where nothing was measured, that."""
    mutation: Mapping[str, Any] = evidence.get("mutation") or {}
    return str(mutation.get("words") or "mutants: not measured")


def _render_record(record: Record) -> str:
    about = f" {record.subject}" if record.subject else ""
    summary = record.data.get("words") or record.data.get("verdict") or ""
    return printable(
        f"{record.sequence:4} {show_time(record.time)}  {record.type}{about}  {summary}"
    ).rstrip()
