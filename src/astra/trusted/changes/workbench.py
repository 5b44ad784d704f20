"""What the verbs of changes share: where they read and write, and the one way they append.

An append of a change expects that neither the change nor the flags moved since they were read, so
that turning code writing off stops what is queued, whatever it was about to record.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from astra.trusted.approvals.desk import Desk
from astra.trusted.changes import admission, model, verdicts
from astra.trusted.changes.admission import Admitted, Rules
from astra.trusted.changes.evidence import Scanner, TestRuns
from astra.trusted.changes.files import ChangedFile
from astra.trusted.changes.model import Change
from astra.trusted.changes.ports import ChangeRepo, CloneImports, Commit, Tree, WaitingFlag
from astra.trusted.changes.views import Book
from astra.trusted.kernel.clock import Clock
from astra.trusted.kernel.errors import Refused
from astra.trusted.kernel.text import one_line, printable
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event, Record
from astra.trusted.policy import flags
from astra.trusted.settings.configuration import Configuration, SyncPolicy

_LONGEST_SUBJECT = 72


@dataclass(frozen=True, kw_only=True)
class Workbench:
    ledger: Ledger
    clock: Clock
    desk: Desk
    repo: ChangeRepo
    scanner: Scanner
    tests: TestRuns
    imports: CloneImports
    waiting: WaitingFlag
    configuration: Callable[[], Configuration]
    configuration_text: Callable[[], str]
    closed: Callable[[], str]
    """Why no code may be changed right now, or nothing."""
    person_for_tests: Callable[[], bool] = lambda: True
    """Whether changes to tests are flagged until a person has decided on them."""
    tests_required: Callable[[], bool] = lambda: True
    """Whether tests have to run and pass before anything is deployed."""
    ledger_is_whole: Callable[[], bool] = lambda: False
    """Whether the whole chain verifies; asked before a policy approves anything."""
    quarantined: Callable[[], Sequence[str]] = tuple
    """The commits that failed in service."""
    find_deploy_objection: Callable[[], str] = lambda: "nothing here says that it is safe to deploy"
    """Says why no permission may deploy now: no staging, or nothing to go back to; or nothing."""

    before_proposals: list[Callable[[], None]] = field(
        default_factory=list[Callable[[], None]], compare=False
    )
    """Whoever wants to look at the branch's upstream before a change is made on it."""

    @property
    def book(self) -> Book:
        return Book(self.ledger)

    def require_open(self) -> None:
        if why := self.closed():
            raise Refused(
                f"code cannot be changed now: {why}",
                code="flag_off" if why != "stopped" else "stopped",
                next_step="an operator can run `astra flags set ASTRA_CODE_WRITE_ENABLED on`"
                if why != "stopped"
                else "only an operator can start work again, with `astra start`",
            )

    def append(
        self,
        change: Change,
        event: Event,
        *others: Event,
        expect: Mapping[str, int] = MappingProxyType({}),
    ) -> list[Record]:
        """Record what happened to a change, unless it moved on or code writing was turned off.

        What else must not have moved is named with its version, as it was read.
        """
        flags_version = flags.version(self.ledger)
        self.require_open()
        versions = {flags.SUBJECT: flags_version, change.id: self.book.version(change.id)}
        model.require(self.book.get(change.id), event.type)
        return self.ledger.append([event, *others], expect={**versions, **expect})

    def rules(self, tree: Tree) -> Rules:
        return Rules(
            target=self.configuration().target, manages_itself=admission.ASTRA_ITSELF in tree
        )

    def admit_files(self, files: tuple[ChangedFile, ...], base: str) -> Admitted:
        tree = self.repo.tree(base)
        return admission.admit(files, rules=self.rules(tree), base_paths=tree)

    def rules_digest(self) -> str:
        """Name the signed rules that a change is admitted, scanned and tested by."""
        target = replace(self.configuration().target, upstream="", sync=SyncPolicy())
        return hashlib.sha256(repr(target).encode()).hexdigest()

    def test_failure(self, change: Change) -> str:
        """Name the verdict on its own tests for which a change goes back to the agent."""
        return verdicts.find_failure(
            change,
            required=self.tests_required,
            has_command=lambda: bool(self.configuration().target.test_command),
            has_tests=lambda: self.has_tests(change.commit),
        )

    def has_tests(self, commit: str) -> bool:
        """Tell whether a commit holds anything that belongs to the tests."""
        tree = self.repo.tree(commit)
        rules = self.rules(tree)
        return any(rules.is_test(path) for path in tree)

    def show_waiting(self) -> None:
        """Bring the file that names changes to tests up to date with the ledger."""
        self.waiting.write(self.book.list_waiting_test_changes() if self.person_for_tests() else ())


def describe_commit(
    bench: Workbench,
    *,
    identifier: str,
    base: str,
    commit: Commit,
    files: tuple[ChangedFile, ...],
    admitted: Admitted,
) -> dict[str, Any]:
    """Describe a commit of a change: what the record keeps, and what a reviewer is told."""
    text = bench.repo.diff(base, commit.id)
    added, removed = count_lines(text)
    return {
        "base": base,
        "commit": commit.id,
        "tree": commit.tree,
        "branch": f"astra/{identifier}",
        "target_branch": bench.repo.branch,
        "files": _describe_files(files),
        "diff": {
            "sha256": hashlib.sha256(text).hexdigest(),
            "files": len(files),
            "added": added,
            "removed": removed,
        },
        "protected": list(admitted.protected),
        "tests": list(admitted.tests),
        "dependencies": list(admitted.dependencies),
        "rules": bench.rules_digest(),
    }


def commit_message(reason: str, identifier: str) -> str:
    """Write the commit's message; what the agent says stays one clean text."""
    clean = printable(reason).strip()
    subject = one_line(clean.split("\n", 1)[0], _LONGEST_SUBJECT)
    return f"Agent modification: {subject}\n\n{clean}\n\nAstra-Change: {identifier}\n"


def _describe_files(files: tuple[ChangedFile, ...]) -> list[dict[str, Any]]:
    """Describe each file; one that came with the very bytes of one that went says where from."""
    deleted = {file.old: file.path for file in files if file.new_mode is None and file.old}
    descriptions = [_describe_file(file) for file in files]
    for file, description in zip(files, descriptions, strict=True):
        if file.old_mode is None and file.new in deleted:
            description |= {"how": "renamed", "renamed_from": deleted[file.new]}
    return descriptions


def _describe_file(file: ChangedFile) -> dict[str, Any]:
    how = "modified"
    if file.old_mode is None:
        how = "added"
    elif file.new_mode is None:
        how = "deleted"
    description = {"path": file.path, "how": how}
    if file.old_mode and file.new_mode and file.old_mode != file.new_mode:
        description["mode"] = f"{file.old_mode} → {file.new_mode}"
    elif file.new_mode == "100755":
        description["mode"] = "executable"
    return description


def count_lines(text: bytes) -> tuple[int, int]:
    """Count the added and removed lines of a diff, inside its hunks only."""
    added = removed = 0
    inside = False
    for line in text.split(b"\n"):
        if line.startswith((b"diff --git ", b"@@")):
            inside = line.startswith(b"@@")
        elif inside:
            added += line.startswith(b"+")
            removed += line.startswith(b"-")
    return added, removed
