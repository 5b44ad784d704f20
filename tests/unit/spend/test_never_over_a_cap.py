"""Whatever the order of reserving, settling, failing and crashing: no sum passes its cap.

Only a server that reports more than was reserved brings a sum over its cap, by exactly that much,
because the operator pays that bill; and then nothing more is let in.
"""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from astra.spend.book import Reservation
from astra.spend.model import KINDS, Account, SpendRefused
from astra.spend.usage import Report
from spend_in_memory import PRICES, SpendInMemory

DAY, ACTOR, GOAL, PLAN = 2_000, 1_500, 1_200, 1_000
MONEY_NANO = 2_500_000
CAPS = (
    f"tokens_per_day = {DAY}\ntokens_per_actor = {ACTOR}\ntokens_per_goal = {GOAL}\n"
    f"tokens_per_plan = {PLAN}\nmoney_per_day = 0.0025\n{PRICES}"
)
LIMITS = {"day": DAY, "actor": ACTOR, "goal": GOAL, "plan": PLAN}
ACCOUNTS = [
    Account(actor=f"agent:{a}", goal=f"goal_0000000{g}", plan=f"plan_0000000{p}")
    for a, g, p in ((1, 1, 1), (1, 1, 2), (2, 1, 3), (2, 2, 4))
]


class Spending(RuleBasedStateMachine):
    reservations = Bundle("reservations")

    def __init__(self) -> None:
        super().__init__()
        self.world = SpendInMemory(CAPS)
        self.overrun_tokens = self.overrun_nano = 0

    @rule(
        target=reservations,
        account=st.sampled_from(ACCOUNTS),
        tokens=st.integers(1, 700),
        output=st.integers(0, 300),
    )
    def reserve(self, account: Account, tokens: int, output: int) -> Reservation | None:
        before = self.world.total().counted.tokens
        try:
            return self.world.reserve(tokens, output=output, account=account)
        except SpendRefused:
            assert self.world.total().counted.tokens == before
            return None

    @rule(
        reservation=consumes(reservations),
        input_tokens=st.integers(-5, 900),
        output_tokens=st.integers(-5, 400),
        cached_tokens=st.integers(-5, 900),
        received=st.integers(0, 3_000),
    )
    def settle(
        self,
        reservation: Reservation | None,
        input_tokens: int,
        output_tokens: int,
        cached_tokens: int,
        received: int,
    ) -> None:
        if reservation is None:
            return
        report = Report(
            input_tokens=input_tokens, output_tokens=output_tokens, cached_tokens=cached_tokens
        )
        before = self.world.total().counted
        self.world.book.settle(reservation, report, received_bytes=received)
        after = self.world.total().counted
        self.overrun_tokens += max(after.tokens - before.tokens, 0)
        self.overrun_nano += max(after.nano - before.nano, 0)

    @rule(reservation=consumes(reservations))
    def fail(self, reservation: Reservation | None) -> None:
        if reservation:
            self.world.book.settle_uncertain(reservation, "lost")

    @rule(reservation=consumes(reservations))
    def release(self, reservation: Reservation | None) -> None:
        if reservation:
            self.world.book.release(reservation)

    @rule(reservation=consumes(reservations))
    def crash(self, reservation: Reservation | None) -> None:
        """Forget a call as kill -9 does, and go on with a book that knows the ledger only."""
        del reservation
        self.world.book = self.world.open_book()

    @invariant()
    def no_sum_passes_its_cap(self) -> None:
        rows = self.world.root.ledger.query(
            "SELECT kind, tokens + uncertain_tokens + reserved_tokens,"
            " nano + uncertain_nano + reserved_nano, reserved_tokens, reserved_nano"
            " FROM spend_total"
        )
        for kind, tokens, nano, reserved_tokens, reserved_nano in rows:
            assert reserved_tokens >= 0
            assert reserved_nano >= 0
            if kind in KINDS:
                assert tokens <= LIMITS[kind] + self.overrun_tokens
            assert nano <= MONEY_NANO + self.overrun_nano


TestSpending = Spending.TestCase
TestSpending.settings = settings(max_examples=25, stateful_step_count=25, deadline=None)
