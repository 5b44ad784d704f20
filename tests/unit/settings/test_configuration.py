import pytest

from astra.testing import RootInMemory
from astra.trusted.kernel.errors import BadSetting
from astra.trusted.policy import contract
from astra.trusted.settings.configuration import parse


def test_an_empty_file_is_all_defaults() -> None:
    configuration = parse("")
    assert configuration.target.max_file_kb == 100
    assert configuration.app.permissions.network == ()


def test_every_section_is_read() -> None:
    configuration = parse(
        """
        [target]
        repo = "/srv/agent"
        test_paths = ["tests/", "spec/"]
        [app]
        command = "serve"
        reload = true
        [app.permissions]
        network = "host"
        [deploy]
        keep = 3
        [model]
        name = "openai:small"
        """
    )
    assert configuration.target.test_paths == ("tests/", "spec/")
    assert configuration.app.permissions.network == "host"
    assert configuration.deploy.keep == 3
    assert configuration.model.name == "openai:small"


@pytest.mark.parametrize(
    ("text", "key", "word"),
    [
        ("[target]\nrepoo = 1", "target.repoo", "did you mean repo?"),
        ("[taget]\n", "taget", "did you mean target?"),
        ("[target]\nmax_file_kb = -1", "target.max_file_kb", "a whole number"),
        ("[target]\nmax_file_kb = true", "target.max_file_kb", "a whole number"),
        ("[target]\ntest_paths = 'tests'", "target.test_paths", "a list of texts"),
        ("[app.permissions]\nnetwork = 1", "app.permissions.network", "a text or a list of texts"),
        ("[target]\npackages = ['redis']", "target.packages", "an environment that Astra builds"),
        *(
            (
                f"[target]\nenvironment = 'auto'\npackages = [{package!r}]",
                "target.packages",
                "is no package",
            )
            for package in ("--index-url=http://a", "a @ https://a/b", "./here", "{python}", "-e.")
        ),
        ("[app]\nstart_seconds = 0", "app.start_seconds", "cannot be 0 seconds"),
        ("[app]\nstart_seconds = 3601", "app.start_seconds", "cannot be 3601 seconds"),
        ("[beliefs.weights]\nrollbak = 1", "beliefs.weights.rollbak", "did you mean rollback?"),
        ("[beliefs.weights]\nrollback = 101", "beliefs.weights.rollback", "cannot be 101"),
        ("[beliefs.weights]\nrollback = -1", "beliefs.weights.rollback", "a whole number"),
        ("[beliefs.weights]\nrollback = 0.5", "beliefs.weights.rollback", "a whole number"),
        ("[goals]\nadopt_repairs_until = 'always'", "goals.adopt_repairs_until", "no time"),
        ("[goals]\nadopt_repairs_until = '2027-01-01'", "goals.adopt_repairs_until", "no time"),
        ("app = 3", "app", "a table"),
        ("[target", "astra.toml", "not TOML"),
    ],
)
def test_a_mistake_names_the_key_and_what_is_accepted(text: str, key: str, word: str) -> None:
    with pytest.raises(BadSetting) as refused:
        parse(text)
    assert refused.value.facts["key"] == key
    assert word in refused.value.detail


@pytest.mark.parametrize("until", ["2026-04-01T00:00:00", "2026-04-01", "soon"])
def test_a_policy_whose_end_has_no_zone_is_not_signed(until: str) -> None:
    root = RootInMemory()
    text = f'[target]\nauto_approve_paths = ["docs/"]\nauto_approve_until = "{until}"\n'
    signed = root.sign(contract.CONFIG_SIGNED, contract.content(text))
    with pytest.raises(BadSetting, match="no time with its zone") as refused:
        contract.sign(root.ledger, text, signed, now=root.clock.now())
    assert 'auto_approve_until = "2026-12-31T18:00:00Z"' in refused.value.next_step
    assert parse(text).target.auto_approve_until == until, "old ones can be read"
