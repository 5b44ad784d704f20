"""Which flags are on, and what follows for each kind of work."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

from astra.trusted.ledger import chain
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Record
from astra.trusted.policy import authority, contract, flags
from astra.trusted.policy.decision import Reason
from astra.trusted.policy.flags import Flag, Lines
from astra.trusted.settings.environment import Settings


@dataclass(frozen=True, kw_only=True)
class Switches:
    ledger: Ledger
    settings: Settings
    stopped: Callable[[], bool]
    resolve: Callable[[Lines, frozenset[str], frozenset[str]], dict[str, Flag]] = field(init=False)
    """Works flags out of their records and the environment, once for the same of both."""
    _newest: tuple[int, Lines] = field(default=(-1, ()), init=False, compare=False)
    """Which record had set a flag last when those of all flags were read, and their lines."""

    def __post_init__(self) -> None:
        @lru_cache(128)
        def resolve(lines: Lines, off: frozenset[str], asked_on: frozenset[str]) -> dict[str, Flag]:
            def holds(record: Record) -> bool:
                return authority.is_signed_by_operator(self.ledger, record)

            return flags.resolve_flags(lines, off=off, asked_on=asked_on, holds=holds)

        object.__setattr__(self, "resolve", resolve)

    def holds(self, line: str) -> bool:
        """Check the signature of a record by its line."""
        return authority.is_signed_by_operator(self.ledger, chain.parse(line))

    def flags(
        self, *, off: frozenset[str] = frozenset(), asked_on: frozenset[str] = frozenset()
    ) -> dict[str, Flag]:
        """Work out the flags for a caller, whose own environment may narrow them further."""
        lines, settings = self._read_lines(), self.settings
        return {**self.resolve(lines, settings.flags_off | off, settings.flags_asked_on | asked_on)}

    def _read_lines(self) -> Lines:
        """Read the records of flags, again only once another one set a flag: every call asks.

        Which one was last is read first, so what is kept for it may be newer, and never older.
        """
        newest = self.ledger.newest(flags.FLAG_SET)
        set_at = newest.sequence if newest else 0
        read_at, lines = self._newest
        if set_at != read_at:
            lines = flags.read_lines(self.ledger)
            object.__setattr__(self, "_newest", (set_at, lines))
        return lines

    def read_states(self, *, off: frozenset[str] = frozenset()) -> dict[str, bool]:
        """Say of each flag whether it is on, for a caller with these turned off."""
        return {name: flag.on for name, flag in self.flags(off=off).items()}

    def turn_off(self, name: str, *, actor: str) -> Record:
        (record,) = self.ledger.append([flags.turn_off(name, actor=actor)])
        return record

    def may_write_code(self) -> bool:
        return flags.code_access(self.flags()) == "write"

    def tests_required(self) -> bool:
        """Tell whether only tested changes are deployed; the environment can only insist on it."""
        return (
            self.settings.tests_required
            or contract.read_configuration(self.ledger).deploy.require_tests
        )

    def person_for_tests(self) -> bool:
        """Tell whether changes to tests are flagged until a person has decided on them."""
        signed_setting = contract.read_configuration(
            self.ledger
        ).target.require_human_approval_for_test_changes
        return self.settings.person_for_tests or signed_setting

    def why_no_firings(self) -> str:
        """Give the reason why no schedule may run now, or nothing."""
        return self._closed_unless("ASTRA_SCHEDULER_ENABLED")

    def why_no_changes(self) -> str:
        """Give the reason why no code may be changed now, or nothing."""
        return self._closed_unless("PERSONA_MODE_ENABLED", "ASTRA_CODE_WRITE_ENABLED")

    def why_no_steps(self) -> str:
        """Give the reason why no plan may take a step now, or nothing."""
        return self._closed_unless("PERSONA_MODE_ENABLED", "AGENT_RUNNER_ENABLED")

    def why_no_goals(self) -> str:
        """Give the reason why no task of a goal may run now, or nothing."""
        return self._closed_unless("PERSONA_MODE_ENABLED")

    def _closed_unless(self, *names: str) -> str:
        if self.stopped():
            return str(Reason.STOPPED)
        effective = self.flags()
        return "" if all(effective[name].on for name in names) else str(Reason.FLAG_OFF)
