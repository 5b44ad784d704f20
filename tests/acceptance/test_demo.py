"""The demo is the first thing a new user runs: it must tell its story on any machine."""

from driver import Astra


def test_the_demo_tells_its_story_and_ends_with_a_verified_ledger(empty: Astra) -> None:
    done = empty.run("demo")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(", 0 lost") == 2
    assert "rolled_back" in done.stdout
    assert "edited at record" in done.stdout
    assert done.stdout.rstrip().splitlines()[-1].lstrip().startswith("ok: ")
