import os
from pathlib import Path

import pytest

from astra.trusted.kernel.errors import BadSetting
from astra.trusted.settings import environment
from astra.trusted.settings.environment import FLAGS, load


def test_defaults_stand_where_nothing_is_set() -> None:
    settings = load({})
    assert settings.data_root == Path("agent-data")
    assert settings.code_repo == Path("agent-data/code-repo")
    assert settings.flags_off == frozenset()


def test_references_to_other_settings_and_variables_expand() -> None:
    settings = load({"AGENT_DATA_ROOT": "${HOME}/data", "HOME": "/home/someone"})
    assert settings.sandbox_folder == Path("/home/someone/data/sandbox")


@pytest.mark.parametrize("value", ["${NOBODY_SET_THIS}", "${AGENT_DATA_ROOT}"])
def test_a_reference_that_leads_nowhere_is_an_error(value: str) -> None:
    with pytest.raises(BadSetting) as refused:
        load({"AGENT_DATA_ROOT": value})
    assert refused.value.facts["key"] == "AGENT_DATA_ROOT"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ASTRA_PORT", "many"),
        ("ASTRA_PORT", "-1"),
        ("ASTRA_DAEMON_IDLE_MINUTES", "0"),
        ("ASTRA_SANDBOX", "docker"),
        ("ASTRA_CODE_WRITE_ENABLED", "maybe"),
        ("AGENT_READ_SCOPE", "everything"),
    ],
)
def test_a_bad_value_names_the_key_the_value_and_what_is_accepted(name: str, value: str) -> None:
    with pytest.raises(BadSetting, match=value) as refused:
        load({name: value})
    assert refused.value.facts["key"] == name
    assert "accepted" in refused.value.detail


def test_an_unknown_name_is_an_error_with_a_suggestion() -> None:
    with pytest.raises(BadSetting, match="did you mean ASTRA_CODE_WRITE_ENABLED"):
        load({"ASTRA_CODE_WRITE_ENABLE": "false"})


def test_what_an_outer_astra_sets_for_its_app_is_known_and_may_be_referred_to() -> None:
    outer = {"ASTRA_RELEASE": "rel-1", "ASTRA_STATE": "/state", "PORT": "8000"}
    settings = load({**outer, "AGENT_DATA_ROOT": "${ASTRA_STATE}/data"})
    assert (settings.release, settings.data_root) == ("rel-1", Path("/state/data"))


def test_names_of_other_programs_are_no_business_of_ours() -> None:
    assert load({"PATH": "/bin", "AGENT_SMITH": "1"}).flags_off == frozenset()


@pytest.mark.parametrize("value", ["false", "0", "off", "no", "FALSE", "Off"])
@pytest.mark.parametrize("name", FLAGS)
def test_the_environment_turns_a_flag_off(name: str, value: str) -> None:
    assert load({name: value}).flags_off == {name}


def test_off_wins_over_on_whichever_says_it() -> None:
    flag = "PERSONA_MODE_ENABLED"
    assert load({flag: "true"}, dotenv=f"{flag}=false").flags_off == {flag}
    assert load({flag: "false"}, dotenv=f"{flag}=true").flags_off == {flag}


def test_an_environment_that_says_on_is_noted_and_changes_nothing() -> None:
    settings = load({"ASTRA_CODE_WRITE_ENABLED": "true"})
    assert settings.flags_off == frozenset()
    assert settings.flags_asked_on == {"ASTRA_CODE_WRITE_ENABLED"}


def test_dotenv_is_read_and_the_process_wins_over_it() -> None:
    text = '# comment\nexport DESIRE_HALF_LIFE_DAYS="7"\nAGENT_GIT_USER_NAME=Robin\n'
    settings = load({"AGENT_GIT_USER_NAME": "Kim"}, dotenv=text)
    assert settings.half_life_days == 7
    assert settings.git_user_name == "Kim"


@pytest.mark.parametrize("text", ["nonsense", "=x", "A B=c"])
def test_a_bad_dotenv_line_is_named(text: str) -> None:
    with pytest.raises(BadSetting, match=r"\.env line 1"):
        load({}, dotenv=text)


def test_a_sandbox_wins_over_none_whichever_says_it() -> None:
    name, off = "ASTRA_SANDBOX", "off-unsafe"
    assert load({name: off}).sandbox_off
    assert load({}, dotenv=f"{name}={off}").sandbox_off
    assert not load({}).sandbox_off
    assert not load({name: "bubblewrap"}, dotenv=f"{name}={off}").sandbox_off
    assert not load({name: off}, dotenv=f"{name}=bubblewrap").sandbox_off
    with pytest.raises(BadSetting, match="accepted: bubblewrap or off-unsafe"):
        load({name: "off"})


@pytest.mark.timeout(60)
def test_a_pipe_in_place_of_the_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / ".env"
    os.mkfifo(pipe)
    with pytest.raises(BadSetting, match="it is no file") as refused:
        environment.read_dotenv(pipe)
    assert refused.value.facts["key"] == ".env"
    assert environment.read_valid_lines(pipe) == {}
