"""Where no box can be trusted, nothing of a change runs, and the review says so."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from astra.adapters.boxes.boxes_only import BoxesOnly
from astra.bootstrap.build import build_runtime
from astra.bootstrap.runtime import Runtime
from astra.changes.edits import WholeFile
from astra.changes.proposing import Proposal
from astra.trusted.changes.model import State
from astra.trusted.sandbox.machine import SandboxUnavailable
from astra.trusted.sandbox.ports import BoxRequest
from astra.trusted.settings import environment
from driver import Astra, make_repository


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Runtime]:
    astra = Astra(tmp_path)
    astra.json("init", make_repository(tmp_path / "target"), "--throwaway")
    opened = build_runtime(environment.load(astra.environment))
    yield opened
    opened.close()


def test_without_a_working_sandbox_the_evidence_says_that_nothing_ran(runtime: Runtime) -> None:
    def broken() -> None:
        raise SandboxUnavailable("agent code does not run here: no bwrap", next_step="install it")

    runtime.sandbox.require_proof = broken  # pyright: ignore[reportAttributeAccessIssue]
    bench = replace(runtime.changes.bench, closed=str)
    changes = replace(
        runtime.changes, bench=bench, gathering=replace(runtime.changes.gathering, bench=bench)
    )
    proposal = Proposal(reason="x", edits=[WholeFile(path="a.py", content=b"x = 1\n")])
    change = changes.proposals.propose(proposal, actor="agent:test", correlation="cor_00000000")
    changes.gathering.scan(change.id)
    changes.gathering.test(change.id)
    changes.merges.ask(change.id)
    found = changes.describe_change(change.id)
    assert found["state"] == State.AWAITING
    assert found["evidence"]["verdict"] == "never_ran"
    assert [item["severity"] for item in found["findings"]] == ["danger"]
    boxes = runtime.ledger.query("SELECT 1 FROM record WHERE type = 'box_ended'")
    assert boxes == []


def test_with_the_sandbox_switched_off_nothing_of_a_change_runs_either(runtime: Runtime) -> None:
    class Off:
        is_off = True

        def run(self, *_words: object, **_more: object) -> None:
            pytest.fail("it ran")

    with pytest.raises(SandboxUnavailable):
        BoxesOnly(Off()).run(  # pyright: ignore[reportArgumentType]
            BoxRequest(command=("true",), correlation="c", actor="a")
        )
