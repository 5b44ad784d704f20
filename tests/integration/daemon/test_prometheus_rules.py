"""The rules and the dashboard that are shipped, tried with the programs they are for.

Prometheus is a package of Debian; `scripts/system-packages` installs it where it can.
"""

import contextlib
import json
import re
import shutil
import socket
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from astra.operations import alert_rules, prometheus
from astra.operations.alert_rules import Rule
from astra.operations.signals import SIGNALS
from driver import Astra, make_repository
from http_driver import served

EXPORTS = resources.files("astra.operations").joinpath("exports")
SECONDS = 90.0


@pytest.fixture(scope="module")
def programs() -> dict[str, str]:
    paths = {name: shutil.which(name) for name in ("prometheus", "promtool")}
    if not all(paths.values()):
        pytest.fail("Prometheus is missing: scripts/system-packages, or apt-get install prometheus")
    return {name: str(path) for name, path in paths.items()}


@pytest.fixture
def astra(tmp_path: Path) -> Iterator[Astra]:
    driver = Astra(tmp_path)
    driver.json("init", make_repository(driver.folder / "target"), "--throwaway")
    yield driver
    driver.end()


def test_the_shipped_files_are_what_the_rules_say() -> None:
    assert EXPORTS.joinpath("prometheus-rules.yml").read_text() == prometheus.write_rules()
    assert EXPORTS.joinpath("grafana-dashboard.json").read_text() == prometheus.write_dashboard()


def test_every_panel_has_a_place_and_names_a_metric_that_there_is() -> None:
    document = json.loads(prometheus.write_dashboard())
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in document["panels"]]
    assert len(set(places)) == len(places)
    reference = Path(__file__).parents[3] / "docs" / "reference" / "metrics.md"
    known = set(re.findall(r"^\| `(astra_\w+)`", reference.read_text(), re.MULTILINE))
    for panel in document["panels"]:
        assert set(re.findall(r"astra_\w+", panel["targets"][0]["expr"])) <= known


def test_promtool_accepts_the_rules_and_each_fires_and_ends_as_astra_says(
    programs: dict[str, str], tmp_path: Path
) -> None:
    rules = tmp_path / "rules.yml"
    rules.write_text(prometheus.write_rules())
    cases = [write_case(rule) for rule in alert_rules.read_built_in()]
    document = {"rule_files": [str(rules)], "evaluation_interval": "1m", "tests": cases}
    tests = tmp_path / "tests.yml"
    tests.write_text(json.dumps(document))  # JSON is YAML
    for words in (["check", "rules", rules], ["test", "rules", tests]):
        done = subprocess.run(
            [programs["promtool"], *words], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


def write_case(rule: Rule) -> dict[str, Any]:
    """Have a value go beyond, stay between, and come back, with what Prometheus has to say."""
    beyond = rule.threshold + (1 if rule.below is None else -0.01)
    between = (rule.threshold + rule.clear_at) / 2
    lasting = rule.for_minutes + 2
    values = [beyond] * (lasting + 1) + [between] * 3 + [rule.clear_at] * 5
    series = f'astra_signal{{signal="{rule.signal}",job="astra",instance="a"}}'
    labels = {"severity": rule.severity, "signal": rule.signal, "job": "astra", "instance": "a"}
    annotations = {"summary": f"{rule.about}; next: {rule.next_step}"}
    firing = [{"exp_labels": labels, "exp_annotations": annotations}]
    stays = rule.clear_at != rule.threshold
    name = prometheus.name_alert(rule)
    return {
        "interval": "1m",
        "input_series": [{"series": series, "values": " ".join(map(str, values))}],
        "alert_rule_test": [
            {"eval_time": f"{lasting}m", "alertname": name, "exp_alerts": firing},
            {
                "eval_time": f"{lasting + 2}m",
                "alertname": name,
                "exp_alerts": firing if stays else [],
            },
            {"eval_time": f"{lasting + 6}m", "alertname": name, "exp_alerts": []},
        ],
    }


def test_a_real_prometheus_scrapes_a_real_daemon_and_raises_what_astra_raises(
    programs: dict[str, str], astra: Astra
) -> None:
    let_the_model_be_gone(astra)
    with served(astra) as site:
        secret = site.token("viewer")["secret"]
        target = f"127.0.0.1:{site.port}"
        with running(programs["prometheus"], astra.folder, target, secret) as address:
            wait_for(lambda: ask(address, 'up{job="astra"}') == [1.0])
            known = {
                item["metric"]["signal"]
                for item in query(address, "astra_signal")["data"]["result"]
            }
            assert known <= SIGNALS.keys()
            assert {"rollbacks", "disk_free_share", "chain_trouble"} <= known
            for panel in json.loads(prometheus.write_dashboard())["panels"]:
                assert query(address, panel["targets"][0]["expr"])["status"] == "success"
            astra.json("smoke", code=1)
            wait_for(lambda: "AstraSmoke" in firing(address))
            raised = [alert["name"] for alert in astra.json("alerts", "check")["items"]]
            assert "smoke" in raised
            health = {rule["health"] for rule in list_rules(address)}
    assert health == {"ok"}


def let_the_model_be_gone(astra: Astra) -> None:
    """Name a model that nobody serves, so that a smoke run fails."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
    astra.extra |= {"ASTRA_MODEL": "gone", "ASTRA_MODEL_BASE_URL": url}


@contextlib.contextmanager
def running(program: str, folder: Path, target: str, secret: str) -> Iterator[str]:
    """Run a Prometheus with the shipped rules against a daemon; give its address."""
    (folder / "rules.yml").write_text(prometheus.write_rules())
    scrape = {
        "job_name": "astra",
        "scrape_interval": "1s",
        "scrape_timeout": "1s",
        "authorization": {"credentials": secret},
        "static_configs": [{"targets": [target]}],
    }
    document = {
        "global": {"evaluation_interval": "1s"},
        "rule_files": [str(folder / "rules.yml")],
        "scrape_configs": [scrape],
    }
    (folder / "prometheus.yml").write_text(json.dumps(document))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    words = [
        *(f"--config.file={folder / 'prometheus.yml'}", f"--web.listen-address={address}"),
        f"--storage.tsdb.path={folder / 'tsdb'}",
    ]
    log = (folder / "prometheus.log").open("wb")
    with log, subprocess.Popen([program, *words], stdout=log, stderr=log) as process:
        try:
            yield f"http://{address}"
        finally:
            process.kill()


def wait_for(is_so: Any) -> None:
    """Ask until it is so: Prometheus has no way to say when it has looked."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            if is_so():
                return
        time.sleep(0.2)
    pytest.fail(f"it was not so within {SECONDS:.0f} s")


def query(address: str, expression: str) -> dict[str, Any]:
    return get(address, f"query?{urllib.parse.urlencode({'query': expression})}")


def ask(address: str, expression: str) -> list[float]:
    return [float(item["value"][1]) for item in query(address, expression)["data"]["result"]]


def firing(address: str) -> set[str]:
    alerts = get(address, "alerts")["data"]["alerts"]
    return {alert["labels"]["alertname"] for alert in alerts if alert["state"] == "firing"}


def list_rules(address: str) -> list[dict[str, Any]]:
    return get(address, "rules")["data"]["groups"][0]["rules"]


def get(address: str, path: str) -> dict[str, Any]:
    with urllib.request.urlopen(f"{address}/api/v1/{path}", timeout=60) as answer:
        return json.loads(answer.read())
