"""Rules are data: the built-in ones are sound, and what an operator writes is checked."""

import pytest

from astra.operations import alert_rules
from astra.operations.alert_rules import BadAlert, Rule, combine, read_built_in, read_rules
from astra.operations.signals import SIGNALS

GOOD = 'name = "a"\nsignal = "rollbacks"\nabove = 1'


def test_the_built_in_rules_cover_what_a_person_wants_to_hear_of() -> None:
    signals = {rule.signal for rule in read_built_in()}
    assert signals <= SIGNALS.keys()
    assert signals >= {
        *("refusal_share", "tests_failed", "rollbacks", "budget_share", "oldest_decision_hours"),
        *("disk_free_share", "chain_trouble", "clock_behind_seconds", "agent_quiet_hours"),
        *("unusual_calls", "notifications_failed", "smoke_failed"),
    }
    for rule in read_built_in():
        assert rule.about
        assert rule.next_step.startswith("astra ")
        assert rule.is_clear(rule.clear_at)
        assert not rule.is_beyond(rule.clear_at)


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ('signal = "rollbacks"\nabove = 1', "name is missing"),
        ('name = "A-b"\nsignal = "rollbacks"\nabove = 1', "name is missing or no name"),
        (f"{GOOD}\nshell = 'rm'", "shell is unknown"),
        ('name = "a"\nsignal = "nothing"\nabove = 1', "signal is 'nothing'"),
        ('name = "a"\nsignal = "rollbacks"', "give one of above and below"),
        (f"{GOOD}\nbelow = 2", "give one of above and below"),
        (f"{GOOD}\nclear = 5", "clear is beyond"),
        (f'{GOOD}\nseverity = "page"', "severity is 'page'"),
        (f"{GOOD}\nfor_minutes = -1", "out of range"),
        (f"{GOOD}\nfor_minutes = true", "for_minutes is True"),
        ('name = "a"\nsignal = "rollbacks"\nabove = nan', "above is nan"),
        ('name = "a"\nsignal = "rollbacks"\nabove = "1"', "above is '1'"),
        (f'{GOOD}\nabout = "{"x" * 300}"', "about is too long"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused_with_the_field(table: str, problem: str) -> None:
    with pytest.raises(BadAlert, match=problem):
        read_rules(f"[[alerts]]\n{table}\n")


def test_the_same_name_twice_and_too_many_rules_are_refused() -> None:
    with pytest.raises(BadAlert, match="a is there twice"):
        read_rules(f"[[alerts]]\n{GOOD}\n[[alerts]]\n{GOOD}\n")
    tables = [f'[[alerts]]\nname = "a{n}"\nsignal = "rollbacks"\nabove = 1\n' for n in range(101)]
    with pytest.raises(BadAlert, match="at most 100"):
        read_rules("".join(tables))
    with pytest.raises(BadAlert, match="is no list"):
        read_rules('alerts = "all"')


def test_an_operators_rule_takes_the_place_of_a_built_in_one_or_turns_it_off() -> None:
    own = read_rules('[[alerts]]\nname = "queue"\nenabled = false\n[[alerts]]\n' + GOOD)
    names = [rule.name for rule in combine(read_built_in(), own)]
    assert "queue" not in names
    assert names[-1] == "a"
    stricter = read_rules(
        '[[alerts]]\nname = "queue"\nsignal = "oldest_decision_hours"\nabove = 1.0'
    )
    (rule,) = [rule for rule in combine(read_built_in(), stricter) if rule.name == "queue"]
    assert rule.threshold == 1.0


def test_between_clear_and_the_number_nothing_changes() -> None:
    rule = Rule(name="a", signal="budget_share", above=0.9, clear=0.8)
    assert [(rule.is_beyond(v), rule.is_clear(v)) for v in (0.95, 0.9, 0.85, 0.8)] == [
        (True, False),
        (False, False),
        (False, False),
        (False, True),
    ]
    low = Rule(name="a", signal="disk_free_share", below=0.05, clear=0.1)
    assert [(low.is_beyond(v), low.is_clear(v)) for v in (0.04, 0.07, 0.1)] == [
        (True, False),
        (False, False),
        (False, True),
    ]
    assert rule.severity == alert_rules.WARNING
