"""Changes over a real repository and a ledger in memory, with evidence that a test chooses."""

import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from astra.adapters.waiting_flag import WaitingFlagFile
from astra.changes.edits import Edit, WholeFile
from astra.changes.gathering import Gathering
from astra.changes.mutation import MutationEvidence
from astra.changes.proposing import Proposal
from astra.changes.service import Changes
from astra.deployments.changes import AfterChanges, ApprovedChanges
from astra.deployments.requests import Requests
from astra.deployments.views import quarantined_commits
from astra.flow import Background, ChangeWork, lanes
from astra.testing import RootInMemory
from astra.trusted.approvals import desk
from astra.trusted.approvals.desk import Desk
from astra.trusted.changes import model
from astra.trusted.changes.evidence import Finding, TestReport, TestVerdict
from astra.trusted.changes.files import ChangedFile
from astra.trusted.changes.model import Change
from astra.trusted.changes.ports import Imported
from astra.trusted.changes.workbench import Workbench
from astra.trusted.git.change_repo import GitChangeRepo, Identity
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.policy import flags
from astra.trusted.settings import configuration

FLAG = "ASTRA_CODE_WRITE_ENABLED"
IDENTITY = ["-c", "user.name=Someone", "-c", "user.email=someone@localhost"]


@dataclass
class FakeScanner:
    findings: tuple[Finding, ...] = ()
    error: Exception | None = None
    scanned: list[tuple[ChangedFile, ...]] = field(default_factory=list)

    def scan(
        self,
        files: Sequence[ChangedFile],
        *,
        test_paths: Sequence[str],
        actor: str,
        correlation: str,
    ) -> tuple[Finding, ...]:
        self.scanned.append(tuple(files))
        if self.error:
            raise self.error
        return self.findings


@dataclass
class FakeTests:
    verdicts: dict[tuple[str, str | None], TestVerdict] = field(default_factory=dict)
    verdict: TestVerdict = TestVerdict.PASSED
    counts: dict[str | None, int] = field(default_factory=dict)
    """How many tests pass, by where the tests are from."""
    error: BaseException | None = None
    ran: list[tuple[str, str | None]] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    during: Callable[[], None] = lambda: None

    def run(
        self,
        *,
        commit: str,
        tests_from: str | None,
        label: str,
        actor: str,
        correlation: str,
        show: Callable[[bytes], None],
    ) -> TestReport:
        self.ran.append((commit, tests_from))
        self.during()
        if self.error:
            raise self.error
        show(b"1 passed\n")
        return TestReport(
            verdict=self.verdicts.get((commit, tests_from), self.verdict),
            reason="as the test wants it",
            command="pytest",
            code_commit=commit,
            tests_commit=tests_from or commit,
            passed=self.counts.get(tests_from, 1),
            failed=0,
            errors=0,
            output_tail="1 passed\n",
        )

    def end(self, label: str) -> None:
        self.ended.append(label)


@dataclass
class FakeMutation:
    evidence: MutationEvidence
    measured: list[dict[str, Any]] = field(default_factory=list)
    during: Callable[[], None] = lambda: None

    def measure(self, **what: Any) -> MutationEvidence:
        self.measured.append(what)
        self.during()
        return self.evidence


@dataclass
class FakeImports:
    imported: Imported | None = None
    loose: Imported | None = None

    def read(self, branch: str, *, most_files: int, actor: str, correlation: str) -> Imported:
        assert self.imported
        return self.imported

    def read_edits(self, *, most_files: int, actor: str, correlation: str) -> Imported | None:
        return self.loose


@dataclass
class ChangesHere:
    """The domain of changes: real git below a folder, the rest in memory."""

    folder: Path
    toml: str = ""
    on: bool = True
    stopped: bool = False
    whole: bool = True
    deploy_objection: str = "there is nothing to go back to"
    root: RootInMemory = field(default_factory=RootInMemory)
    scanner: FakeScanner = field(default_factory=FakeScanner)
    tests: FakeTests = field(default_factory=FakeTests)
    imports: FakeImports = field(default_factory=FakeImports)
    mutation: FakeMutation | None = None

    def __post_init__(self) -> None:
        self.git_dir = self.folder / "git"
        if not self.git_dir.exists():
            make_bare(self.git_dir, {"agent.py": b"def answer():\n    return 41\n"})
        self.repo = GitChangeRepo(self.git_dir, "main", Identity(name="Agent", email="a@localhost"))
        self.desk = Desk(self.root.ledger, self.root.clock)
        self.bench = self._bench()
        gathering = Gathering(self.bench, mutations=self.mutation)
        self.changes = Changes(self.bench, gathering)
        self.desk.conditions[model.KIND] = self.changes.review.check_terms
        self.steps = self.new_steps()
        if self.on:
            self.set_flag(on=True)

    def close(self) -> None:
        self.repo.close()
        self.root.ledger.close()

    def new_steps(self, **options: Any) -> Background:
        after = AfterChanges(changes=self.changes, deploy=self._deploy)
        work = ChangeWork(self.changes.gathering, self.changes.merges, self.changes.remarks, after)
        lane = lanes.changes_lane(self.root.ledger, self.root.clock, work, self.bench.closed)
        return Background(self.root.ledger, self.root.clock, [lane], **options)

    @property
    def deployments(self) -> Requests:
        approved = ApprovedChanges(changes=self.changes, tests_required=lambda: True)
        return Requests(ledger=self.root.ledger, clock=self.root.clock, approved=approved)

    def _deploy(self, change: str, story: str) -> None:
        self.deployments.deploy(change, actor="operator", correlation=story)

    def set_flag(self, *, on: bool) -> None:
        self.on = on
        event = flags.turn_off(FLAG, actor="test")
        if on:
            signed = self.root.sign("flag_set", flags.content(FLAG, on=True))
            event = flags.turn_on(self.root.ledger, FLAG, signed, now=self.root.clock.now())
        self.root.ledger.append([event])

    def propose(self, *edits: Edit, reason: str = "it should be 42", **more: Any) -> Change:
        wanted = edits or (WholeFile(path="agent.py", content=b"def answer():\n    return 42\n"),)
        if "from_branch" in more or "reverts" in more:
            wanted = edits
        proposal = Proposal(reason=reason, edits=wanted, **more)
        return self.changes.proposals.propose(
            proposal, actor="agent:test", correlation="cor_0000000000000001"
        )

    def reviewed(self, *edits: Edit, **more: Any) -> Change:
        """Propose a change and let its evidence be gathered."""
        change = self.propose(*edits, **more)
        self.steps.run_due()
        return self.get(change.id)

    def get(self, identifier: str) -> Change:
        return self.changes.book.get(identifier)

    def approve(self, change: Change, key: KeyPair | None = None, **terms: Any) -> None:
        assert change.approval
        self.grant(change.approval, key, **terms)
        self.steps.run_due()

    def insist(self, change: Change, **terms: Any) -> None:
        """Take a change although its tests did not pass, by the term for it."""
        self.changes.merges.ask(change.id, despite_tests=True)
        verdict = self.bench.test_failure(change)
        self.approve(self.get(change.id), despite_tests=verdict, **terms)

    def grant(self, approval_id: str, key: KeyPair | None = None, **terms: Any) -> None:
        approval = self.desk.get(approval_id)
        signed = self.root.sign("approval_granted", desk.content(approval, terms), key)
        self.desk.grant(approval_id, signed)

    def commit_elsewhere(self, path: str, content: bytes) -> str:
        """Move the target's branch, as another merged change would."""
        from astra.trusted.changes.files import FileState

        head = self.repo.head()
        made = self.repo.commit(
            base=head,
            result={path: FileState(content=content)},
            message="elsewhere",
            when=self.root.clock.now(),
        )
        assert self.repo.fast_forward(expected=head, to=made.id)
        return made.id

    def types(self) -> list[str]:
        rows = self.root.ledger.query("SELECT type FROM record ORDER BY sequence")
        return [row[0] for row in rows]

    def _bench(self) -> Workbench:
        return Workbench(
            ledger=self.root.ledger,
            clock=self.root.clock,
            desk=self.desk,
            repo=self.repo,
            scanner=self.scanner,
            tests=self.tests,
            imports=self.imports,
            waiting=WaitingFlagFile(self.folder),
            configuration=lambda: configuration.parse(self.toml),
            configuration_text=lambda: self.toml,
            closed=self._closed,
            ledger_is_whole=lambda: self.whole,
            quarantined=lambda: quarantined_commits(self.root.ledger),
            find_deploy_objection=lambda: self.deploy_objection,
        )

    def _closed(self) -> str:
        if self.stopped:
            return "stopped"
        return "" if self.on else "flag_off"


def make_bare(path: Path, files: dict[str, bytes], *, modes: dict[str, int] | None = None) -> Path:
    """Make a bare repository with one commit of these files on `main`."""
    work = path.with_name(f"{path.name}.work")
    work.mkdir(parents=True)
    for name, content in files.items():
        place = work / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        place.chmod((modes or {}).get(name, 0o644))
    git(work, "init", "-q", "-b", "main")
    git(work, "add", "-A", "-f")
    git(work, *IDENTITY, "commit", "-qm", "one")
    subprocess.run(["git", "clone", "-q", "--bare", str(work), str(path)], check=True, env=_ENV)
    return path


_ENV = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}


def git(where: Path, *words: str | Path, data: bytes = b"") -> str:
    done = subprocess.run(
        ["git", *map(str, words)],
        cwd=where,
        input=data,
        capture_output=True,
        check=True,
        env=_ENV,
    )
    return done.stdout.decode(errors="surrogateescape").strip()
