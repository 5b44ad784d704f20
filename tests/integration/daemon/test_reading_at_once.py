"""What somebody has been told is in the ledger for whoever looks next."""

from pathlib import Path

from driver import Astra, make_repository
from http_driver import served


def test_a_refusal_is_found_as_soon_as_its_answer_is_there(tmp_path: Path) -> None:
    """Such records are on disk a little later: whoever asks does not have to wait for that."""
    astra = Astra(tmp_path)
    astra.json("init", make_repository(tmp_path / "target"), "--throwaway")
    with (
        served(astra) as site,
        site.client(site.login()) as operator,
        site.client(site.token("agent")["secret"]) as agent,
    ):
        for number in range(1, 16):
            refused = {"path": f"/etc/{number}", "content": "x"}
            assert agent.post("/api/tools/write_file", json=refused).status_code == 403
            items = operator.get("/api/ledger", params={"limit": 1000}).json()["items"]
            assert sum(item["type"] == "tool_refused" for item in items) == number
