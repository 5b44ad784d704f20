import pytest

from astra.trusted.kernel.errors import BadSetting
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
        ("[app]\nstart_seconds = 0", "app.start_seconds", "0 seconds to start"),
        ("[app]\nstart_seconds = 3601", "app.start_seconds", "3601 seconds to start"),
        ("app = 3", "app", "a table"),
        ("[target", "astra.toml", "not TOML"),
    ],
)
def test_a_mistake_names_the_key_and_what_is_accepted(text: str, key: str, word: str) -> None:
    with pytest.raises(BadSetting) as refused:
        parse(text)
    assert refused.value.facts["key"] == key
    assert word in refused.value.detail
