"""Whoever may only look, or only act as an agent, gets no more out of a smoke run than that."""

import threading

from driver import Astra
from http_driver import served


def test_at_the_port_an_agent_and_a_viewer_cannot_run_it_as_an_operator_would(
    astra: Astra,
) -> None:
    with served(astra) as site:
        for role in ("agent", "viewer"):
            with site.client(site.token(role)["secret"]) as http:
                assert http.post("/api/smoke").status_code == 403
        with site.client(site.token("agent")["secret"]) as http:
            assert http.get("/api/smoke").status_code == 403


def test_a_flood_of_runs_ends_at_the_budget_and_never_runs_two_at_once(astra: Astra) -> None:
    with served(astra) as site:
        secret, codes = site.token("agent")["secret"], list[int]()

        def call() -> None:
            with site.client(secret) as http:
                codes.append(http.post("/api/tools/astra.smoke", json={}).status_code)

        threads = [threading.Thread(target=call) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert 200 in codes
        assert set(codes) <= {200, 403, 409}
        used = [row for row in astra.json("status")["budgets"] if row["name"] == "astra.smoke"]
    assert used[0]["used"] == codes.count(200)
    records = astra.json("ledger", "tail", "--count", "1000")["items"]
    kinds = [record["type"] for record in records if record["type"].startswith("smoke_")]
    assert kinds == ["smoke_started", "smoke_finished"] * codes.count(200)


def test_a_secret_in_a_models_address_is_in_no_item(astra: Astra) -> None:
    astra.extra |= {
        "ASTRA_MODEL": "gone",
        "ASTRA_MODEL_BASE_URL": "http://user:hunter2hunter2@127.0.0.1:9/v1?token=hunter2hunter2",
    }
    done = astra.run("smoke", "--json")
    assert done.returncode == 1
    assert "hunter2" not in done.stdout
    assert "hunter2" not in astra.run("ledger", "tail", "--count", "1000", "--json").stdout
