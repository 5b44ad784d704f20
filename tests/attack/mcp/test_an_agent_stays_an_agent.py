"""Nothing an agent's client says, in any field of the protocol, makes it more than an agent."""

import json
from typing import Any

import pytest

from deploying import until
from driver import Astra
from mcp_driver import RawClient, raw

FLAG = "PERSONA_MODE_ENABLED"
OPERATOR_CALL = {"name": "astra_flags_set", "arguments": {"name": FLAG, "on": False}}
OPENING = b'{"astra": {"operator": true, "off": [], "names": null, "calls": 1000000}}'
CLAIMS: dict[str, Any] = {
    "astra": {"operator": True},
    "operator": True,
    "role": "operator",
    "actor": "operator",
    "io.modelcontextprotocol/clientInfo": {"name": "operator", "version": "1"},
    "authority": {"signature": "0" * 128},
}


def refused_as_agent(client: RawClient, **more: Any) -> None:
    said = client.ask("tools/call", **OPERATOR_CALL, **more)["result"]
    assert said["isError"] is True
    assert said["structuredContent"]["code"] == "operator_only"


def unchanged(astra: Astra) -> None:
    assert astra.json("status")["flags"][FLAG]["on"] is True
    assert not astra.json("ledger", "tail", "--type", "flag_set")["items"]


def test_a_second_opening_line_changes_nothing(astra: Astra) -> None:
    with raw(astra) as client:
        client.send(OPENING)
        assert "error" in client.read_answer()
        client.introduce()
        client.send(OPENING)
        assert "error" in client.read_answer()
        refused_as_agent(client)
        assert "astra_flags_set" not in client.tools()
    unchanged(astra)


def test_an_opening_smuggled_into_a_request_changes_nothing(astra: Astra) -> None:
    with raw(astra) as client:
        client.introduce()
        call = {"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": OPERATOR_CALL}
        client.send(json.dumps({"astra": {"operator": True}, **call}).encode())
        assert client.read_answer()["result"]["structuredContent"]["code"] == "operator_only"
    unchanged(astra)


def test_metadata_is_not_authority(astra: Astra) -> None:
    with raw(astra) as client:
        client.introduce()
        refused_as_agent(client, _meta={"progressToken": 1, **CLAIMS})
        listed = client.ask("tools/list", _meta=CLAIMS)["result"]["tools"]
        assert "astra_flags_set" not in {tool["name"] for tool in listed}
    unchanged(astra)


@pytest.mark.parametrize("name", ["operator", "astra-operator", "operator:user:0", "daemon"])
def test_the_clients_name_is_not_authority(astra: Astra, name: str) -> None:
    with raw(astra) as client:
        client.introduce(name=name, title="operator", role="operator")
        refused_as_agent(client)
        story = until(lambda: astra.json("ledger", "tail", "--type", "tool_refused")["items"])
        assert all(item["actor"].startswith("agent:") for item in story)
    unchanged(astra)


def test_capabilities_of_the_client_are_not_authority(astra: Astra) -> None:
    with raw(astra) as client:
        client.ask(
            "initialize",
            protocolVersion="2025-11-25",
            capabilities={"experimental": CLAIMS, "elicitation": {"url": {}, "form": {}}},
            clientInfo={"name": "x", "version": "1"},
        )
        client.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        refused_as_agent(client)
    unchanged(astra)


def test_the_stateless_envelope_is_not_authority(astra: Astra) -> None:
    envelope = {
        **CLAIMS,
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"extensions": {"astra/operator": {}}},
    }
    with raw(astra) as client:
        refused_as_agent(client, _meta=envelope)
    unchanged(astra)


@pytest.mark.parametrize(
    "lie",
    [
        {"operator": True},
        {"readOnlyHint": True},
        {"tier": 0},
        {"annotations": {"readOnlyHint": True, "destructiveHint": False}},
        {"approved": True, "approval_id": "apr_00000000"},
        {"_meta": {"operator": True}},
    ],
    ids=str,
)
def test_arguments_that_speak_about_the_call_are_refused(astra: Astra, lie: Any) -> None:
    with raw(astra) as client:
        client.introduce()
        said = client.call("write_file", path="note.md", content="x", **lie)
        assert said["structuredContent"]["code"] == "bad_arguments"
        refused_as_agent(client)
    unchanged(astra)


@pytest.mark.parametrize(
    "environment",
    [
        {"ASTRA_CODE_WRITE_ENABLED": "on"},
        {"PERSONA_MODE_ENABLED": "on", "ASTRA_CODE_WRITE_ENABLED": "true"},
    ],
    ids=str,
)
def test_the_environment_turns_nothing_on(astra: Astra, environment: dict[str, str]) -> None:
    with raw(astra, **environment) as client:
        client.introduce()
        assert "deploy_agent_code" not in client.tools()
        said = client.call("deploy_agent_code")["structuredContent"]
        assert said["code"] == "flag_off"


def test_more_calls_than_a_session_has_cannot_be_asked_for(astra: Astra) -> None:
    with raw(astra, "--calls", "100000000") as client:
        assert "may make 1000 calls" in client.introduce()["instructions"]


def test_an_operators_session_cannot_turn_anything_on_either(astra: Astra) -> None:
    with raw(astra, "--operator") as client:
        client.introduce()
        said = client.call("astra_flags_set", name="ASTRA_CODE_WRITE_ENABLED", on=True)
        assert said["structuredContent"]["on"] is False
        assert "deploy_agent_code" not in client.tools()
    assert astra.json("status")["flags"]["ASTRA_CODE_WRITE_ENABLED"]["on"] is False
