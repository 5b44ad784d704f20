"""Whatever an agent, a model or a test writes, no secret value gets into the chain in clear."""

from pathlib import Path

import pytest

from astra.bootstrap.events import EVENTS
from astra.bootstrap.runtime import Runtime
from astra.testing import MemoryLedger, RootInMemory
from astra.trusted.calls.counter import Request
from astra.trusted.file_ledger.ledger import FileLedger
from astra.trusted.kernel.errors import AstraError
from astra.trusted.kernel.masking import MASK
from astra.trusted.ledger.record import Event
from astra.trusted.policy import authority, contract
from astra.trusted.policy.call import Actor, Role

TOKEN = "ghp_" + "a1B2" * 9
KEY = "-----BEGIN PRIVATE KEY-----\n" + "MIIEvQ" * 12 + "\n-----END PRIVATE KEY-----"
TEXTS = (f"use {TOKEN} now", KEY, "export DB_PASSWORD=hunter2x", "https://me:hunter2x@host/")
CLEAR = (TOKEN, "MIIEvQMIIEvQ", "hunter2x")
PLAN = {
    "goals": [f"call the forge with {TOKEN}"],
    "checkpoints": [{"title": f"sign in with {TOKEN}", "description": f"export A_TOKEN={TOKEN}"}],
    "manifest": {"read_paths": ["agent.py"]},
    "estimated_duration_minutes": 5,
    "assumptions": [f"{TOKEN} is valid"],
}
REFUSED = ("fetch_url", "no_such_tool")


def hostile(kind: str) -> Event:
    """Make an event of a type with secrets wherever text can stand."""
    nested = {"words": list(TEXTS), "deep": [{"er": {TOKEN: "a name too", "x": TEXTS[0]}}]}
    return Event(type=kind, actor="agent:test", data={"text": "\n".join(TEXTS), "more": nested})


@pytest.mark.parametrize("kind", sorted(EVENTS))
def test_an_event_of_any_type_is_masked_before_it_is_chained(kind: str) -> None:
    ledger = MemoryLedger()
    (record,) = ledger.append([hostile(kind)])
    ledger.close()
    assert MASK in record.line
    assert [text for text in CLEAR if text in record.line] == []


def test_the_ledgers_files_hold_no_secret_of_any_event(tmp_path: Path) -> None:
    ledger = FileLedger(tmp_path)
    ledger.append([hostile(kind) for kind in sorted(EVENTS)])
    ledger.append([hostile("tool_called")], lazy=True)
    ledger.close()
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    kept = b"".join(path.read_bytes() for path in files)
    assert [text for text in CLEAR if text.encode() in kept] == []


def test_only_what_an_operator_signed_is_kept_word_for_word() -> None:
    root = RootInMemory()
    text = f'[target]\ntest_command = "env A_TOKEN={TOKEN} make test"\n'
    statement = authority.draft(
        contract.CONFIG_SIGNED,
        contract.content(text),
        root_id=root.root_id,
        head=root.ledger.head(),
        now=root.clock.now(),
    )
    signed = authority.sign(statement, root.operator)
    root.ledger.append([contract.sign(root.ledger, text, signed, now=root.clock.now())])
    assert contract.signed_text(root.ledger) == text


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("astra.plans.draft", {"description": f"with {TOKEN}", "plan": PLAN}),
        ("astra.desires.record", {"text": f"have {TOKEN}", "context": f"A_TOKEN={TOKEN}"}),
        ("run_in_sandbox", {"command": ["echo", TOKEN]}),
        ("fetch_url", {"url": f"https://example.org/?t={TOKEN}"}),
        ("write_file", {"path": "note.md", "content": f"x {TOKEN}"}),
        (
            "schedule_code_modification",
            {"reason": f"put {TOKEN}", "edits": [{"path": "a.md", "content": f"{TOKEN}\n"}]},
        ),
        (
            "astra.schedule.create",
            {
                "name": f"use {TOKEN}",
                "cron_expression": "0 3 * * *",
                "target_tool": "read_file",
                "payload": {"path": TOKEN},
            },
        ),
        ("no_such_tool", {"x": TOKEN}),
    ],
)
def test_no_call_of_an_agent_leaves_a_token_in_the_chain(
    runtime: Runtime, tool: str, arguments: dict[str, object]
) -> None:
    actor = Actor(role=Role.AGENT, name="test", door="mcp")
    try:
        runtime.counter.call(Request(name=tool, arguments=arguments, actor=actor))
    except AstraError as error:
        assert tool in REFUSED, error
    rows = runtime.ledger.query("SELECT count(*) FROM record WHERE line LIKE ?", [f"%{TOKEN}%"])
    assert rows == [(0,)]
