"""The review says beside each grant what is there, and whether there is a model."""

from astra.plans.preflight import Preflight
from astra.testing_plans import OneModel


def make_preflight(*there: str) -> Preflight:
    return Preflight(
        models=OneModel(),
        code_repo="/data/code-repo",
        exists=lambda path: path in there,
        can_be_made=lambda path: path.startswith("/data/persona_space/"),
    )


def test_paths_are_looked_for_in_the_target() -> None:
    preflight = make_preflight("/data/code-repo/agent.py")
    assert preflight.describe_grant("read_paths", "agent.py") == "exists"
    assert preflight.describe_grant("read_paths", "gone.py").startswith("does not exist")


def test_a_missing_path_that_may_be_written_is_announced_as_one_that_will_be_made() -> None:
    preflight = make_preflight()
    notes = "/data/persona_space/notes"
    assert "it is made" in preflight.describe_grant("write_paths", notes)
    assert "will not have it" in preflight.describe_grant("read_paths", notes)
    assert "will not have it" in preflight.describe_grant("write_paths", "/srv/elsewhere")


def test_hosts_are_not_asked() -> None:
    assert "not looked up" in make_preflight().describe_grant("network_domains", "example.com")


def test_a_missing_model_is_told_with_what_to_do() -> None:
    model = make_preflight().describe_model()
    assert not model["ok"]
    assert "no model is configured" in model["detail"]


def test_a_path_that_only_a_stale_clone_has_does_not_exist() -> None:
    preflight = Preflight(
        models=OneModel(),
        code_repo="/data/code-repo",
        exists=lambda path: path in {"/data/code-repo/old.py", "/srv/shared"},
        is_in_target=lambda path: path in {"new.py", "docs"},
    )
    assert preflight.describe_grant("read_paths", "new.py") == "exists"
    assert preflight.describe_grant("write_paths", "docs/") == "exists"
    assert preflight.describe_grant("read_paths", "old.py").startswith("does not exist")
    assert preflight.describe_grant("read_paths", "/srv/shared") == "exists"
