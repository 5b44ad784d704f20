"""Units for systemd are shown before they are written, and doctor looks at them."""

from astra.operations import service_units
from driver import Astra


def test_units_are_shown_or_written_and_never_half(astra: Astra) -> None:
    shown = astra.json("service", "install", "--print", "--user", "nobody")
    assert shown["written"] is False
    assert f"--data-root {astra.root}" in shown["units"]["astra.service"]
    units = astra.folder / "units"
    refused = astra.json("service", "install", "--units", units, code=1)
    assert refused["code"] == "not_root"
    units.mkdir()
    written = astra.json("service", "install", "--units", units, "--user", "nobody")
    assert {path.name for path in units.iterdir()} == set(written["units"])
    assert (units / "astra.service").read_text() == written["units"]["astra.service"]
    assert "no user astra-nowhere" in " ".join(
        astra.json("service", "install", "--print", "--user", "astra-nowhere")["warnings"]
    )
    assert astra.json("service", "install", "--print", "--user", "a b", code=2)["code"] == (
        "bad_service"
    )


def test_a_worker_has_a_unit_of_its_own_as_hardened_as_the_daemons(astra: Astra) -> None:
    words = ("service", "install", "--print", "--worker", "--instance", "web-1", "--jobs", "2")
    shown = astra.json(*words, "--user", "nobody")
    (name,) = shown["units"]
    unit = shown["units"][name]
    assert name == "astra-worker.service"
    assert f"worker --data-root {astra.root} --jobs 2 --drain 600 --instance web-1" in unit
    assert "TimeoutStopSec=660" in unit, "longer than its jobs may take to end"
    assert service_units.find_problems(unit) == []
    refused = astra.json("service", "install", "--print", "--worker", "--instance", "a b", code=2)
    assert refused["code"] == "bad_service"
