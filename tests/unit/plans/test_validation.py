"""What the server refuses in a plan, whoever wrote it."""

from typing import Any

import pytest

from astra.testing import GateInMemory
from astra.trusted.kernel.errors import AstraError

Document = dict[str, Any]


def refusal(gate: GateInMemory, document: Document) -> str:
    with pytest.raises(AstraError) as refused:
        gate.planning.plans.draft(document, actor="agent:test", correlation="cor_00000000000000aa")
    assert refused.value.next_step
    assert gate.planning.register.list_plans()[0] == []
    return refused.value.reason


@pytest.mark.parametrize(
    ("kind", "value", "code"),
    [
        ("read_paths", "/", "grant_too_broad"),
        ("write_paths", "/", "grant_too_broad"),
        ("read_paths", "/home/ada", "grant_too_broad"),
        ("read_paths", "/home", "grant_too_broad"),
        ("read_paths", "~", "grant_too_broad"),
        ("read_paths", "*", "grant_too_broad"),
        ("read_paths", "**", "grant_too_broad"),
        ("read_paths", "/**", "grant_too_broad"),
        ("read_paths", "/srv", "grant_too_broad"),
        ("read_paths", "docs/../..", "grant_bad_path"),
        ("read_paths", "/data/var", "grant_protected"),
        ("read_paths", "/data/var/ledger", "grant_protected"),
        ("write_paths", "/data/astra.toml", "grant_protected"),
        ("read_paths", "/data/.env", "grant_secret"),
        ("read_paths", "/home/ada/.bashrc", "grant_protected"),
        ("read_paths", "/proc/1", "grant_protected"),
        ("write_paths", "/etc/cron.d", "grant_protected"),
        ("write_paths", ".github/workflows", "grant_protected"),
        ("read_paths", "/home/ada/.ssh/id_ed25519", "grant_secret"),
        ("network_domains", "*", "bad_domain"),
        ("network_domains", "*.com", "bad_domain"),
        ("network_domains", "127.0.0.1", "bad_domain"),
        ("network_domains", "localhost", "bad_domain"),
        ("skills", "fly", "unknown_skill"),
        ("skills", "*", "unknown_skill"),
        ("skills", "agent_plan", "self_recursion"),
        ("skills", "Agent_Start", "self_recursion"),
        ("skills", "astra.plans.draft", "self_recursion"),
        ("skills", "astra_plans_answer", "self_recursion"),
        ("skills", "astra.schedule.create", "self_recursion"),
        ("skills", "astra_schedule_modify", "self_recursion"),
        ("skills", "goals.create", "self_recursion"),
        ("skills", "astra.approvals.approve", "self_recursion"),
        ("skills", "astra.stop", "self_recursion"),
        ("destructive_ops", "fly", "unknown_skill"),
    ],
)
def test_a_grant_that_is_too_much_refuses_the_plan(
    gate: GateInMemory, document: Document, kind: str, value: str, code: str
) -> None:
    document["manifest"][kind] = [*document["manifest"].get(kind, []), value]
    assert refusal(gate, document) == code


def test_writing_outside_the_target_is_named_among_the_read_paths_too(
    gate: GateInMemory, document: Document
) -> None:
    document["manifest"]["write_paths"] = ["/srv/reports/may"]
    assert refusal(gate, document) == "path_outside_target"
    document["manifest"]["read_paths"] = ["/srv/reports/may"]
    assert gate.planning.plans.check_document(document)


def test_a_checkpoint_whose_skill_is_not_granted_can_never_be_reached(
    gate: GateInMemory, document: Document
) -> None:
    document["checkpoints"][1]["skills_needed"] = ["run_in_sandbox"]
    assert refusal(gate, document) == "unreachable_checkpoint"


def test_a_checkpoint_that_is_there_twice_can_never_be_reached(
    gate: GateInMemory, document: Document
) -> None:
    document["checkpoints"].append(document["checkpoints"][0])
    assert refusal(gate, document) == "unreachable_checkpoint"


def test_each_grant_has_one_spelling(gate: GateInMemory, document: Document) -> None:
    document["manifest"] |= {
        "read_paths": ["docs//./guide.md", "docs/guide.md"],
        "network_domains": ["EXAMPLE.com.", "example.com"],
        "skills": ["read_file", "write_file", "astra_desires_list"],
    }
    plan, _ = gate.planning.plans.check_document(document)
    assert plan.manifest.read_paths == ("docs/guide.md",)
    assert plan.manifest.network_domains == ("example.com",)
    assert plan.manifest.skills == ("read_file", "write_file", "astra.desires.list")
