"""Guesses at login links are counted for the whole process: an address is anybody's claim."""

from http_driver import Served, problem


def test_guessing_is_slowed_down_whatever_address_is_claimed(site: Served) -> None:
    with site.client() as http:
        for number in range(10):
            forged = {"X-Forwarded-For": f"10.0.0.{number}"}
            said = http.post("/api/session", json={"code": f"guess{number}"}, headers=forged)
            problem(said, 401, "not_recognised")
        said = http.post("/api/session", json={"code": site.code()})
        problem(said, 429, "too_many_attempts")
        assert said.headers["retry-after"]
