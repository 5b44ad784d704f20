"""Challenges and enrolments over time, on a clock that is told."""

from datetime import UTC, datetime, timedelta

from astra.trusted.door.challenges import Enrolments, LoginChallenges
from astra.trusted.policy.assertions import Credential

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
MADE = Credential(id=b"c", public_key=b"k", site="localhost", origin="http://localhost:1")


def test_a_challenge_is_good_for_five_minutes_and_spent_once() -> None:
    known = LoginChallenges()
    challenge = known.create(NOW)
    assert known.is_valid(challenge, NOW + timedelta(minutes=4))
    assert not known.is_valid(challenge, NOW + timedelta(minutes=5))
    assert known.spend(challenge, NOW)
    assert not known.spend(challenge, NOW)


def test_nobody_else_makes_a_challenge() -> None:
    known = LoginChallenges()
    challenge = known.create(NOW)
    for other in (b"", b"x" * 56, LoginChallenges().create(NOW), challenge[:-1], challenge + b"x"):
        assert not known.is_valid(other, NOW)
    later = (2**63).to_bytes(8) + challenge[8:]
    assert not known.is_valid(later, NOW)


def test_spent_challenges_are_forgotten_once_they_are_over() -> None:
    known = LoginChallenges()
    for minute in range(100):
        now = NOW + timedelta(minutes=minute)
        known.spend(known.create(now), now)
    assert len(known._spent) <= 6


def test_an_enrolment_is_settled_once_and_in_time() -> None:
    known = Enrolments()
    code, late = known.create(NOW), known.create(NOW)
    assert known.settle(code, MADE, NOW)
    assert not known.settle(code, MADE, NOW)
    found = known.find(code, NOW)
    assert found
    assert len(found.check) == 6
    assert not known.settle(late, MADE, NOW + timedelta(minutes=10))
    assert known.find("guess", NOW) is None


def test_open_enrolments_are_few() -> None:
    known = Enrolments()
    first, *_, last = [known.create(NOW) for _ in range(6)]
    assert known.find(first, NOW) is None
    assert known.find(last, NOW)
