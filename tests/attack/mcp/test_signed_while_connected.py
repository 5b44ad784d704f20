"""What an operator signs bites in the sessions that are open, at their next call."""

from driver import Astra
from mcp_driver import RawClient, raw

SECRET = '[agent]\nsecret_patterns = ["agent.py"]\n'


def read(client: RawClient) -> dict[str, object]:
    asked = {"name": "read_source_code", "arguments": {"path": "agent.py"}}
    return client.ask("tools/call", **asked)["result"]["structuredContent"]


def test_an_open_session_does_not_keep_what_was_readable_before(astra: Astra) -> None:
    with raw(astra) as client:
        client.introduce()
        assert read(client)["text"]
        configuration = astra.root / "astra.toml"
        before = configuration.read_text()
        configuration.write_text(before + SECRET)
        astra.json("config", "sign")
        assert read(client)["code"] == "read_secret"
        configuration.write_text(before)
        astra.json("config", "sign")
        assert read(client)["text"]
