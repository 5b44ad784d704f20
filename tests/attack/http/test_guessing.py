"""Whoever guesses at login links is slowed down, and keeps nobody else from getting in."""

import pytest

from astra.testing import SetClock
from astra.trusted.door.login import Attempts, TooMany
from http_driver import Served, problem


def test_guessing_is_slowed_down_and_a_good_code_works_all_the_while(
    site: Served,
) -> None:
    with site.client() as http:
        for number in range(10):
            forged = {"X-Forwarded-For": f"10.0.0.{number}"}
            said = http.post("/api/session", json={"code": f"guess{number}"}, headers=forged)
            problem(said, 401, "not_recognised")
        said = http.post("/api/session", json={"code": "one guess more"})
        problem(said, 429, "too_many_attempts")
        assert said.headers["retry-after"]
        assert http.post("/api/session", json={"code": site.code()}).status_code == 200


def test_one_source_is_slowed_down_and_another_is_not() -> None:
    attempts, clock = Attempts(), SetClock()
    for _ in range(10):
        attempts.count_failure("10.0.0.1", clock.now())
    with pytest.raises(TooMany):
        attempts.count_failure("10.0.0.1", clock.now())
    attempts.count_failure("10.0.0.2", clock.now())
    clock.advance(minutes=2)
    attempts.count_failure("10.0.0.1", clock.now())
