"""What Prometheus would scrape: every name documented, every line well formed."""

import re
from pathlib import Path

from driver import Astra
from http_driver import served

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "metrics.md").read_text()
LINE = re.compile(r'([a-z_]+)(?:\{((?:[a-z]+="(?:[^"\\\n]|\\.)*",?)+)\})? (\S+)')


def scraped(text: str) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for line in text.splitlines():
        if not line.startswith("# "):
            match = LINE.fullmatch(line)
            assert match, line
            found.setdefault(match[1], {})[match[2] or ""] = float(match[3])
    return found


def test_metrics_count_what_happened_and_are_documented(astra: Astra) -> None:
    with served(astra) as site:
        astra.json("tools", "call", "astra_health", "{}")
        astra.json("tools", "call", "astra_flags_set", '{"name": "x", "on": false}', code=1)
        astra.json("tools", "call", "fetch_url", '{"url": "https://example.com"}', code=3)
        astra.json("tools", "call", "write_file", '{"path": "a.md", "content": "x"}')
        with site.client(site.token("viewer")["secret"]) as http:
            said = http.get("/metrics")
        assert said.headers["content-type"].startswith("text/plain; version=0.0.4")
        found = scraped(said.text)
        declared = re.findall(r"# TYPE (\w+) (\w+)", said.text)
    assert {(name, kind) for name, kind in declared} == set(
        re.findall(r"^\| `(astra_\w+)` \| (\w+) \|", PAGE, re.MULTILINE)
    )
    calls = found["astra_tool_calls_total"]
    assert calls['tool="astra.health",outcome="ok"'] == 1
    assert calls['tool="write_file",outcome="ok"'] == 1
    assert calls['tool="fetch_url",outcome="refused"'] == 1
    assert found["astra_approvals_pending"][""] == 1
    assert found["astra_approvals"]['state="pending"'] == 1
    assert found["astra_budget_used"]['scope="tool",name="write_file"'] == 1
    assert found["astra_flag"]['flag="PERSONA_MODE_ENABLED"'] == 1
    assert found["astra_stopped"][""] == 0
    assert all(value >= 0 for samples in found.values() for value in samples.values())
