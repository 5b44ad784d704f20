"""A dry run: the whole path of a change, on a throwaway copy, with a transcript to keep.

Schedule, evidence, approval, execution, diff: the same code as for a real change, over a clone of
the trusted repository and a ledger of its own, with the real scanner and the real sandbox. The
operator's own signature is what lets it go on, so that an approval is rehearsed too. Nothing of the
target moves and nothing is deployed; it works while code writing is off, and is meant to be run
before it is turned on.
"""

import json
import shutil
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from astra.adapters.waiting_flag import WaitingFlagFile
from astra.bootstrap import PROJECTIONS
from astra.bootstrap.code_identity import code_digest
from astra.bootstrap.evidence import ConfiguredTests, make_test_runs, make_workspaces
from astra.bootstrap.sandbox import Sandbox
from astra.bootstrap.step_runner import StepRunner, change_steps
from astra.changes.edits import Edit, WholeFile
from astra.changes.gathering import Gathering
from astra.changes.proposing import Proposal
from astra.changes.service import Changes
from astra.deployments.changes import AfterChanges
from astra.flow import ChangeWork
from astra.trusted.approvals import desk
from astra.trusted.approvals.desk import Desk
from astra.trusted.changes import model
from astra.trusted.changes.evidence import Scanner, TestVerdict
from astra.trusted.changes.model import Change
from astra.trusted.changes.ports import Imported
from astra.trusted.changes.workbench import Workbench
from astra.trusted.file_ledger import FileLedger
from astra.trusted.file_ledger.check import check_files
from astra.trusted.files.data_root import DataRoot, write_private
from astra.trusted.git import trusted_repo
from astra.trusted.git.change_repo import GitChangeRepo, Identity
from astra.trusted.kernel.clock import Clock, format_time, parse_time
from astra.trusted.kernel.errors import NotFound, Refused
from astra.trusted.kernel.ids import random_id
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.kernel.text import printable
from astra.trusted.ledger import views
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event, Record
from astra.trusted.policy import authority, contract, flags
from astra.trusted.policy.authority import Signed
from astra.trusted.settings.environment import Settings

APPROVED, COMPLETED = "dry_run_approved", "dry_run_completed"
FILE = "ASTRA_DRY_RUN.md"
CODE_WRITE = "ASTRA_CODE_WRITE_ENABLED"


class _NoImports:
    def read(self, branch: str, **_more: Any) -> Imported:
        raise Refused(f"a dry run reads no branch ({branch})", next_step="give edits")

    def read_edits(self, **_more: Any) -> None:
        return None


@dataclass(frozen=True, kw_only=True)
class DryRun:
    """One dry run under way: a data root of its own, made to be thrown away."""

    id: str
    root: DataRoot
    ledger: FileLedger
    operator: KeyPair
    changes: Changes
    steps: StepRunner
    change: Change

    @property
    def digest(self) -> str:
        change = self.changes.book.get(self.change.id)
        return self.changes.bench.desk.get(str(change.approval)).digest

    def approve(self) -> None:
        """Let it go on, by the word of the throwaway root's own operator."""
        the_desk = self.changes.bench.desk
        change = self.changes.book.get(self.change.id)
        approval = the_desk.get(str(change.approval))
        terms = {"consent": change.facts["protected"]} if change.facts["protected"] else {}
        signed = _signed(self.ledger, self.operator, desk.GRANTED, desk.content(approval, terms))
        the_desk.grant(approval.id, signed)
        self.steps.run_due()

    def transcript(self) -> list[str]:
        records = views.records(self.ledger, limit=1000)
        lines = [_line(record) for record in records]
        change = self.changes.shown(self.change.id)
        diff = self.changes.diff(self.change.id).decode(errors="replace")
        return [
            f"dry run {self.id} of {change['id']}: {change['state']}",
            *lines,
            f"findings: {len(change['findings'] or ())}; {change['evidence']['words']}",
            *printable(diff).rstrip("\n").split("\n"),
        ]

    def close(self) -> None:
        self.steps.stop()
        repo = self.changes.bench.repo
        if isinstance(repo, GitChangeRepo):
            repo.close()
        self.ledger.close()

    def discard(self) -> None:
        shutil.rmtree(self.root.path, ignore_errors=True)


@dataclass(frozen=True, kw_only=True)
class DryRuns:
    root: DataRoot
    ledger: Ledger
    clock: Clock
    settings: Settings
    sandbox: Sandbox
    scanner: Scanner
    branch: str
    tests_required: Callable[[], bool]
    _open: dict[str, DryRun] = field(default_factory=dict[str, DryRun])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def folder(self) -> Path:
        return self.root.var / "dry-runs"

    def begin(self, edits: Sequence[Edit] = ()) -> dict[str, Any]:
        """Walk up to the decision: propose, admit, commit, scan, test, ask."""
        with self._lock:
            self.close()
            shutil.rmtree(self.folder, ignore_errors=True)  # what an earlier daemon left
            run = self._prepare(edits)
            self._open[run.id] = run
        change = run.changes.shown(run.change.id)
        if change["state"] != model.State.AWAITING:
            return self._finish(run)
        return {
            "id": run.id,
            "state": change["state"],
            "digest": run.digest,
            "transcript": run.transcript(),
        }

    def approve(self, identifier: str, signed: Signed) -> dict[str, Any]:
        """Record the operator's rehearsed approval, and walk on to the end."""
        run = self._open.get(identifier)
        if run is None:
            raise NotFound(
                f"no dry run {identifier[:40]} is under way", next_step="astra changes dry-run"
            )
        data = {"dry_run": run.id, "digest": run.digest}
        event = Event(type=APPROVED, actor="operator", data=data, subject=run.id)
        event = authority.signed_event(self.ledger, event, signed, now=self.clock.now())
        self.ledger.append([event])
        run.approve()
        return self._finish(run)

    def close(self) -> None:
        for run in self._open.values():
            run.close()
            run.discard()
        self._open.clear()

    def _finish(self, run: DryRun) -> dict[str, Any]:
        change = run.changes.shown(run.change.id)
        transcript = run.transcript()
        counters = run.changes.book.counters()
        place = self._keep(run, transcript, change)
        self._open.pop(run.id, None)
        run.close()
        report = check_files(run.root.var, public_key=run.root.ledger_key().public)
        run.discard()
        tested = self._tested(change["evidence"]["verdict"])
        summary = {
            "dry_run": run.id,
            "ok": change["state"] == model.State.EXECUTED and report.ok and tested,
            "code": code_digest(),
            "target": change["base"],
            "state": change["state"],
            "tests": change["evidence"]["verdict"],
            "ledger_whole": report.ok,
            "records": report.records,
            "counters": counters,
            "folder": str(place.relative_to(self.root.path)),
        }
        self.ledger.append([Event(type=COMPLETED, actor="daemon", data=summary, subject=run.id)])
        return {**summary, "id": run.id, "transcript": transcript, "diff": change["diff"]}

    def _tested(self, verdict: str | None) -> bool:
        """Tell whether the tests count: passed, or none at all where the operator wants none."""
        absent = verdict in {TestVerdict.NEVER_RAN, TestVerdict.NO_TESTS}
        return verdict == TestVerdict.PASSED or (absent and not self.tests_required())

    def _keep(self, run: DryRun, transcript: list[str], change: dict[str, Any]) -> Path:
        place = self.root.path / "deployments" / "dry-runs" / run.id
        place.mkdir(parents=True)
        write_private(place / "transcript.txt", "".join(f"{t}\n" for t in transcript).encode())
        records = [record.line for record in views.records(run.ledger, limit=1000)]
        write_private(place / "ledger.ndjson", "".join(f"{line}\n" for line in records).encode())
        write_private(place / "change.json", json.dumps(change, indent=2).encode())
        return place

    def _prepare(self, edits: Sequence[Edit]) -> DryRun:
        identifier, operator = random_id("dry"), KeyPair.generate()
        inner = DataRoot(self.folder / identifier)
        inner.path.parent.mkdir(mode=0o700, exist_ok=True)
        inner.make_folders()
        trusted_repo.make_trusted(inner.git, self.root.git, self.branch)
        key = inner.make_ledger_key()
        ledger = FileLedger(inner.var, projections=PROJECTIONS, key=key, clock=self.clock)
        _create(ledger, operator)
        bench = self._bench(inner, ledger)
        changes = Changes(bench, Gathering(bench))
        bench.desk.conditions[model.KIND] = changes.review.check_terms
        after = AfterChanges(changes=changes, deploy=_never_deployed)
        work = ChangeWork(changes.gathering, changes.merges, changes.remarks, after)
        steps = change_steps(ledger, self.clock, work, closed=str)
        proposal = Proposal(
            reason=f"dry run {identifier}", edits=edits or [self._harmless(identifier)]
        )
        change = changes.proposals.propose(
            proposal, actor="operator: dry run", correlation=random_id("cor")
        )
        steps.run_due()
        return DryRun(
            id=identifier,
            root=inner,
            ledger=ledger,
            operator=operator,
            changes=changes,
            steps=steps,
            change=change,
        )

    def _harmless(self, identifier: str) -> Edit:
        """Give an edit that the operator's own rules admit: a note, where files may be made."""
        allowed = contract.in_force(self.ledger).target.allowed_paths
        folders = [text for text in allowed if text.endswith("/") and "*" not in text]
        text = f"made by {identifier} at {format_time(self.clock.now())}\n"
        return WholeFile(path=f"{folders[0] if folders else ''}{FILE}", content=text.encode())

    def _bench(self, inner: DataRoot, ledger: FileLedger) -> Workbench:
        workspaces = make_workspaces(inner)
        identity = Identity(name=self.settings.git_user_name, email=self.settings.git_user_email)
        target = contract.in_force(self.ledger)
        return Workbench(
            ledger=ledger,
            clock=self.clock,
            desk=Desk(ledger, self.clock),
            repo=GitChangeRepo(inner.git, self.branch, identity),
            scanner=self.scanner,
            tests=ConfiguredTests(
                make=lambda: make_test_runs(self.sandbox, workspaces, target.target, self.settings)
            ),
            imports=_NoImports(),
            waiting=WaitingFlagFile(inner.path / "deployments"),
            configuration=lambda: target,
            configuration_text=lambda: contract.signed_text(self.ledger),
            closed=str,
            tests_required=self.tests_required,
        )


def _create(ledger: FileLedger, operator: KeyPair) -> None:
    """Begin a ledger as every one does, with an operator of its own, and code writing on."""
    created = {
        "root_id": random_id("root"),
        "throwaway": True,
        "operator_key": operator.public,
        "recovery_key": operator.public,
    }
    first = Event(type=authority.ROOT_CREATED, actor="operator", data=created, key="data-root")
    ledger.append([first])
    signed = _signed(ledger, operator, flags.FLAG_SET, flags.content(CODE_WRITE, on=True))
    ledger.append([flags.turn_on(ledger, CODE_WRITE, signed, now=_time_of(ledger))])


def _signed(ledger: Ledger, key: KeyPair, action: str, content: dict[str, Any]) -> Signed:
    statement = authority.draft(
        action,
        content,
        root_id=authority.keys(ledger).root_id,
        head=views.settled_head(ledger),
        now=_time_of(ledger),
    )
    return authority.sign(statement, key)


def _time_of(ledger: Ledger) -> datetime:
    return parse_time(ledger.head().time)


def _line(record: Record) -> str:
    about = f" {record.subject}" if record.subject else ""
    words = record.data.get("words") or record.data.get("verdict") or ""
    return printable(
        f"{record.sequence:4} {record.time[:19]}Z  {record.type}{about}  {words}"
    ).rstrip()


def _never_deployed(_change: str, _story: str) -> None:
    """Stand where a deployment would begin: a dry run ends with the merge."""
