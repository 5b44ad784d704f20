"""Spending over a data root in memory, with caps that the operator signed."""

from astra.spend.book import Estimate, Reservation, SpendBook
from astra.spend.model import Account, Scope, Total, make_scope
from astra.spend.raising import SignedRaises
from astra.testing import GateInMemory
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.policy import contract

MODEL = "openai:small"
ACCOUNT = Account(
    actor="agent:a", goal="goal_00000001", plan="plan_00000001", correlation="cor_0000000000000001"
)
PRICES = '[[spend.prices]]\nmodel = "openai:*"\ninput = 1\noutput = 2\ncached = 0.5\n'


class SpendInMemory:
    """A gate in memory whose signed configuration has a `[spend]` table."""

    def __init__(self, settings: str = "") -> None:
        self.gate = GateInMemory()
        self.root = self.gate.root
        self.raises = SignedRaises(desk=self.gate.desk)
        self.book = self.open_book()
        if settings:
            self.sign(settings)

    def open_book(self) -> SpendBook:
        """Give a book as a daemon has it that starts anew over the same ledger."""
        return SpendBook(
            ledger=self.root.ledger,
            clock=self.root.time,
            raises=self.raises,
            complete=lambda account: account,
        )

    def sign(self, settings: str) -> None:
        text = f"[spend]\n{settings}"
        signed = self.root.sign("config_signed", contract.content(text))
        event = contract.sign(self.root.ledger, text, signed, now=self.root.clock.now())
        self.root.ledger.append([event])

    def reserve(
        self, tokens: int, *, account: Account = ACCOUNT, output: int = 0, model: str = MODEL
    ) -> Reservation:
        estimate = Estimate(
            model=model, input_tokens=tokens, output_tokens=output, sent_bytes=tokens
        )
        reservation = self.book.reserve(account, estimate)
        assert reservation is not None
        return reservation

    def approve(self, approval: str, key: KeyPair | None = None) -> None:
        self.gate.approve(approval, key)
        self.raises.fulfil(approval)

    def total(self, kind: str = "day") -> Total:
        return self.book.read_total(self.scope(kind))

    def scope(self, kind: str = "day") -> Scope:
        names = {**ACCOUNT.as_dict(), "model": MODEL}
        return make_scope(kind, names.get(kind, ""), self.book.today())
