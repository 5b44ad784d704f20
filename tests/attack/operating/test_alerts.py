"""The agent would rather not have anybody hear of it: what it can write silences nothing."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from astra.trusted.kernel.clock import format_time
from driver import Astra
from http_driver import served

RULE = '[[alerts]]\nname = "asked"\nsignal = "oldest_decision_hours"\nabove = 0.0\nclear = 0.0\n'


def sign(astra: Astra, text: str) -> None:
    path = astra.root / "astra.toml"
    path.write_text(f"{path.read_text()}\n{text}\n")
    astra.json("config", "sign")


def write_silence(hours: float = 1) -> dict[str, str]:
    until = format_time(datetime.now(UTC) + timedelta(hours=hours))
    return {"alert": "asked", "until": until, "reason": "nothing to see"}


@pytest.mark.parametrize(
    "authority",
    [{}, {"statement": {}, "signature": "00"}, {"key": "agent", "statement": {"action": "x"}}],
)
def test_a_silence_without_a_true_signature_is_refused_at_every_door(
    astra: Astra, authority: dict[str, object]
) -> None:
    sign(astra, RULE)
    body = {"content": write_silence(), "authority": authority}
    with served(astra) as site:
        for role in ("agent", "viewer"):
            with site.client(site.token(role)["secret"]) as http:
                assert http.post("/api/alerts/silences", json=body).status_code == 403
                assert http.delete("/api/alerts/silences/asked").status_code == 403
        with site.client(site.login()) as http:
            answer = http.post("/api/alerts/silences", json=body, headers={"Origin": site.origin})
            assert answer.status_code in {400, 403, 422}
        rules = {rule["name"]: rule for rule in astra.json("alerts")["rules"]}
    assert rules["asked"]["silenced_until"] is None


def test_a_rule_in_an_unsigned_file_turns_nothing_off(astra: Astra) -> None:
    path = astra.root / "astra.toml"
    path.write_text(f'{path.read_text()}\n[[alerts]]\nname = "refusals"\nenabled = false\n')
    (astra.root / "code-repo" / "astra.toml").write_text(path.read_text())
    assert "refusals" in {rule["name"] for rule in astra.json("alerts")["rules"]}


def test_no_tool_of_an_agent_reaches_alerts(astra: Astra) -> None:
    names = {item["name"] for item in astra.json("tools", "list")["items"]}
    assert not [name for name in names if "alert" in name or "silence" in name]


def test_words_of_an_agent_are_in_no_alert(astra: Astra) -> None:
    """What an alert says is the server's: names of rules and numbers, nothing that was called."""
    sign(astra, RULE)
    hostile = "https://example.com/\u202eAPPROVE\u001b[31m"
    astra.run("tools", "call", "fetch_url", json.dumps({"url": hostile}), "--json")
    astra.run("tools", "call", "fetch_url", '{"url": "https://example.com"}', "--json")
    (alert,) = astra.json("alerts", "check")["items"]
    assert "example.com" not in json.dumps(alert)
    assert "\u001b" not in astra.run("alerts").stdout


def test_a_flood_of_refusals_raises_one_alert_and_not_one_for_each(astra: Astra) -> None:
    rule = '[[alerts]]\nname = "refusals"\nsignal = "refusal_share"\nabove = 0.5\nclear = 0.3\n'
    sign(astra, rule)
    with served(astra) as site, site.client(site.token("agent")["secret"]) as http:
        for _ in range(60):
            http.post("/api/tools/astra.flags.set", json={})
        astra.json("down", "--keep-app")  # what was counted together is recorded when it leaves
    for _ in range(3):
        items = astra.json("alerts", "check")["items"]
    assert [alert["name"] for alert in items] == ["refusals"]
    kinds = [record["type"] for record in astra.json("alerts")["history"]]
    assert kinds == ["alert_raised"]
