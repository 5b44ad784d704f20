"""What `[deploy.fleet]` accepts: labels, sizes of waves, and deadlines that end."""

import pytest

from astra.trusted.kernel.errors import BadSetting
from astra.trusted.settings.configuration import parse

APP = '[app]\ncommand = "python3 app.py"\nport = 8000\n'


def test_without_a_fleet_the_app_is_on_one_machine() -> None:
    assert parse(APP).deploy.fleet.instances == ()


def test_a_fleet_is_labels_waves_and_deadlines() -> None:
    text = '[deploy.fleet]\ninstances = ["web-1", "web-2"]\nwaves = ["1", "50%"]\nmax_down = 2\n'
    fleet = parse(APP + text).deploy.fleet
    assert (fleet.instances, fleet.waves, fleet.max_down) == (("web-1", "web-2"), ("1", "50%"), 2)


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('instances = ["web 1"]', "instances"),
        ('instances = ["../up"]', "instances"),
        ('instances = ["10.0.0.1:80"]', "instances"),
        ('instances = ["web-1", "web-1"]', "instances"),
        (f"instances = {[f'web-{n}' for n in range(201)]}", "instances"),
        ('waves = ["0"]', "waves"),
        ('waves = ["101%"]', "waves"),
        ('waves = ["rest", "1"]', "waves"),
        ("max_down = 0", "max_down"),
        ("instance_seconds = 0", "instance_seconds"),
        ("rollback_seconds = 86401", "rollback_seconds"),
    ],
)
def test_what_is_no_fleet_is_refused_by_name(line: str, key: str) -> None:
    with pytest.raises(BadSetting) as refused:
        parse(f"[deploy.fleet]\n{line}\n")
    assert refused.value.facts["key"] == f"deploy.fleet.{key}"


def test_an_instance_has_longer_than_its_before_start_may_take() -> None:
    app = APP + 'before_start = "python3 migrate.py"\nbefore_start_seconds = 600\n'
    named = '[deploy.fleet]\ninstances = ["web-1"]\n'
    parse(app)
    parse(app + named + "instance_seconds = 601\n")
    with pytest.raises(BadSetting, match="before_start"):
        parse(app + named)
