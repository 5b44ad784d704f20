"""A collector that the signed configuration names gets stories from a real daemon."""

from pathlib import Path

from driver import Astra, make_repository
from trace_collector import open_collector


def test_a_story_reaches_the_collector_as_one_trace(tmp_path: Path) -> None:
    astra = Astra(tmp_path)
    target = make_repository(tmp_path / "target")
    astra.json("init", target, "--throwaway")
    with open_collector() as collector:
        astra.sign_target("[traces]", f'endpoint = "{collector.address}"')
        desire = astra.json("desires", "record", "a warmer welcome")
        span = collector.wait_for("desire_recorded")
        attributes = {entry.key: entry.value.string_value for entry in span.attributes}
        assert attributes["astra.subject"] == desire["id"]
        assert "welcome" not in "".join(collector.bodies)
        astra.end()


def test_an_address_that_is_none_is_refused_with_the_way_to_write_it(tmp_path: Path) -> None:
    astra = Astra(tmp_path)
    target = make_repository(tmp_path / "target")
    astra.json("init", target, "--throwaway")
    configuration = astra.root / "astra.toml"
    configuration.write_text('[traces]\nendpoint = "http://collector.example:4318"\n')
    done = astra.run("config", "sign")
    assert done.returncode == 2
    assert "traces.endpoint" in done.stderr + done.stdout
    assert "https://host:4318" in done.stderr
    astra.end()
