"""An operator hears of what is unusual: on the command line, the page, the feed and a channel."""

import json
from collections.abc import Iterator

import pytest

from driver import Astra
from http_driver import served
from web_hook import Hook, listening

RULE = """
[[alerts]]
name = "asked"
signal = "oldest_decision_hours"
above = 0.0
clear = 0.0
severity = "critical"
about = "somebody waits"
next_step = "astra inbox"
"""


@pytest.fixture
def hook() -> Iterator[Hook]:
    with listening() as server:
        yield server


def sign(astra: Astra, text: str, code: int = 0) -> dict[str, str]:
    path = astra.root / "astra.toml"
    path.write_text(f"{path.read_text()}\n{text}\n")
    return astra.json("config", "sign", code=code)


def ask_for_approval(astra: Astra) -> str:
    call = astra.json("tools", "call", "fetch_url", '{"url": "https://example.com"}', code=3)
    return call["approval_id"]


def test_a_rule_of_the_signed_configuration_raises_tells_and_ends(astra: Astra, hook: Hook) -> None:
    address = f"json://127.0.0.1:{hook.server_port}/hook"
    (astra.root / ".env").write_text(f"CHAT_URL={address}\n")
    sign(astra, f'[notify]\nchannels = ["CHAT_URL"]\ninclude_content = true\n{RULE}')
    assert astra.json("alerts", "check")["items"] == []
    approval = ask_for_approval(astra)
    (alert,) = astra.json("alerts", "check")["items"]
    assert (alert["name"], alert["severity"]) == ("asked", "critical")
    assert "somebody waits" in astra.run("alerts", "--rules").stdout
    assert any(item["id"] == "alert-rule-asked" for item in astra.json("inbox")["items"])
    feed = astra.json("tools", "call", "astra.awareness.read", '{"kind": "alert"}')["items"]
    assert feed[0]["text"].startswith("alert asked: somebody waits")
    hook.wait_for(2)
    assert any(alert["id"] in text and "/alerts" in text for text in hook.heard)
    astra.json("reject", approval, "--reason", "no")
    assert astra.json("alerts", "check")["items"] == []
    history = [record["type"] for record in astra.json("alerts")["history"]]
    assert history == ["alert_resolved", "alert_raised"]


def test_a_silence_is_signed_and_the_page_shows_it(astra: Astra) -> None:
    sign(astra, RULE)
    silenced = astra.json("alerts", "silence", "asked", "--hours", "2", "--reason", "known")
    ask_for_approval(astra)
    (alert,) = astra.json("alerts", "check")["items"]
    assert alert["silenced"] is True
    assert not [item for item in astra.json("inbox")["items"] if item["kind"] == "alert"]
    with served(astra) as site, site.client(site.token("viewer")["secret"]) as http:
        rules = {rule["name"]: rule for rule in http.get("/api/alerts").json()["rules"]}
    assert rules["asked"]["silenced_until"] == silenced["until"]
    astra.json("alerts", "unsilence", "asked")
    (alert,) = astra.json("alerts", "check")["items"]
    assert alert["silenced"] is False
    unknown = astra.json("alerts", "silence", "nothing", "--reason", "x", code=1)
    assert unknown["code"] == "not_found"


def test_a_built_in_rule_can_be_turned_off_and_a_bad_one_is_refused(astra: Astra) -> None:
    sign(astra, '[[alerts]]\nname = "queue"\nenabled = false\n')
    assert "queue" not in {rule["name"] for rule in astra.json("alerts")["rules"]}
    refused = sign(astra, '[[alerts]]\nname = "x"\nsignal = "nonsense"\nabove = 1\n', code=2)
    assert refused["code"] == "bad_alert"
    assert "nonsense" in refused["detail"]


def test_a_failed_smoke_run_is_an_alert(astra: Astra) -> None:
    astra.extra |= {"ASTRA_MODEL": "x", "ASTRA_MODEL_BASE_URL": "http://127.0.0.1:1/v1"}
    astra.json("smoke", code=1)
    assert [alert["name"] for alert in astra.json("alerts", "check")["items"]] == ["smoke"]


def test_the_rules_for_prometheus_and_grafana_come_with_the_package(astra: Astra) -> None:
    assert "alert: AstraDisk" in astra.run("alerts", "export", "prometheus").stdout
    assert json.loads(astra.run("alerts", "export", "grafana").stdout)["title"] == "Astra"
