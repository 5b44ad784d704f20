"""The demo is the first thing a new user runs: it must tell its story on any machine, twice."""

import json

from driver import Astra


def test_the_demo_tells_its_story_and_ends_with_a_verified_ledger(empty: Astra) -> None:
    done = empty.run("demo")
    assert done.returncode == 0, done.stderr
    assert "edited at record" in done.stdout
    assert done.stdout.rstrip().splitlines()[-1].lstrip().startswith("ok: ")


def test_the_demo_answers_scripts_with_json(empty: Astra) -> None:
    done = empty.run("demo", "--json")
    assert json.loads(done.stdout)["ok"] is True
