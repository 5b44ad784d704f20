"""What is asked of a passkey: at login, and when a new one is enrolled.

A login's challenge carries its own expiry and a seal of this process, so that strangers who ask for
many cost no memory; one that opened a session opens no other. An enrolment lives in memory from
the operator's command to the operator's signature.
"""

import hashlib
import hmac
import secrets
import threading
from dataclasses import dataclass
from datetime import datetime, timedelta

from astra.trusted.policy import access
from astra.trusted.policy.assertions import Credential

LOGIN_LIFETIME = timedelta(minutes=5)
ENROLMENT_LIFETIME = timedelta(minutes=10)
_MOST_ENROLMENTS = 5
_TIME, _RANDOM = 8, 16


class LoginChallenges:
    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._lock = threading.Lock()
        self._spent: dict[bytes, datetime] = {}

    def forget(self) -> None:
        """Let no challenge be good any more: the clock their time was measured by was wrong."""
        with self._lock:
            self._key = secrets.token_bytes(32)
            self._spent.clear()

    def create(self, now: datetime) -> bytes:
        until = int((now + LOGIN_LIFETIME).timestamp()).to_bytes(_TIME)
        message = until + secrets.token_bytes(_RANDOM)
        return message + self._compute_seal(message)

    def is_valid(self, challenge: bytes, now: datetime) -> bool:
        message, seal = challenge[: _TIME + _RANDOM], challenge[_TIME + _RANDOM :]
        return (
            hmac.compare_digest(seal, self._compute_seal(message))
            and int.from_bytes(message[:_TIME]) > now.timestamp()
        )

    def spend(self, challenge: bytes, now: datetime) -> bool:
        """Use a good challenge up; tell whether it had not been used before."""
        with self._lock:
            for old in [
                used_challenge for used_challenge, until in self._spent.items() if until <= now
            ]:
                del self._spent[old]
            fresh = challenge not in self._spent
            self._spent[challenge] = now + LOGIN_LIFETIME
        return fresh

    def _compute_seal(self, said: bytes) -> bytes:
        return hmac.digest(self._key, said, hashlib.sha256)


@dataclass
class Enrolment:
    """A passkey that is being made: first a challenge, then what the browser made of it."""

    challenge: bytes
    until: datetime
    made: Credential | None = None

    @property
    def check(self) -> str:
        """Give six digits that the page and the terminal both show, for a person to compare."""
        assert self.made is not None  # noqa: S101 - asked for once it is made
        number = int.from_bytes(hashlib.sha256(self.made.public_key).digest()[:8]) % 1_000_000
        return f"{number:06d}"


class Enrolments:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[str, Enrolment] = {}

    def forget(self) -> None:
        """Let no enrolment go on: the clock its time was measured by was wrong."""
        with self._lock:
            self._open.clear()

    def create(self, now: datetime) -> str:
        code = access.new_secret()
        with self._lock:
            while len(self._open) >= _MOST_ENROLMENTS:
                del self._open[next(iter(self._open))]
            self._open[access.hash_secret(code)] = Enrolment(
                challenge=secrets.token_bytes(32), until=now + ENROLMENT_LIFETIME
            )
        return code

    def find(self, code: str, now: datetime) -> Enrolment | None:
        with self._lock:
            enrolment = self._open.get(access.hash_secret(code))
        return enrolment if enrolment and enrolment.until > now else None

    def settle(self, code: str, made: Credential, now: datetime) -> bool:
        """Keep what a browser made, once; whoever comes second is too late."""
        enrolment = self.find(code, now)
        with self._lock:
            if enrolment is None or enrolment.made is not None:
                return False
            enrolment.made = made
        return True

    def spend(self, code: str, now: datetime) -> bool:
        """End an enrolment, once; tell whether it was open."""
        with self._lock:
            enrolment = self._open.pop(access.hash_secret(code), None)
        return enrolment is not None and enrolment.until > now
