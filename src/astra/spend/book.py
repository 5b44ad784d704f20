"""The book of spending: every model call is reserved before it is made and settled after.

    estimate → caps → reserved (durable) → the call → settled by what the server reported

- A reservation is appended under the version of `spend` that its sums were read at, so calls that
  begin at once, on one machine or several, cannot pass a cap together.
- What was reserved and never settled (kill -9, a lost disk) stays reserved: it may have been spent.
- A settlement is keyed by its call, so it counts once.
- A goal with a budget of money has a cap of its own, which only another signature for the goal
  makes larger.
- Without caps nothing is reserved or recorded.
"""

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from astra.spend.caps import (
    MONEY,
    Cap,
    describe_limit,
    has_money_cap,
    list_caps,
    price_reservation,
    price_usage,
)
from astra.spend.model import GOAL, Account, Amount, Scope, SpendRefused, Total, list_scopes
from astra.spend.projection import REACHED, RESERVED, SETTLED, SUBJECT
from astra.spend.usage import Report, judge_report
from astra.trusted.kernel.clock import Clock, format_time
from astra.trusted.kernel.errors import BadSetting, StaleVersion
from astra.trusted.kernel.ids import random_id
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event
from astra.trusted.policy import contract
from astra.trusted.settings.spend_settings import Price, Spend

GOAL_SPENT = "goal_budget_spent"
"""The reason where it is the goal's own budget of money that has no room."""
_MOST_TRIES = 100
_ACTOR = "daemon"


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """The most that a call can take, known before it is made."""

    model: str
    input_tokens: int
    output_tokens: int
    sent_bytes: int


@dataclass(frozen=True, kw_only=True)
class Reservation:
    call: str
    day: str
    account: Account
    estimate: Estimate
    price: Price | None
    reserved: Amount


@dataclass(frozen=True, kw_only=True)
class _Full:
    """A cap without room for a call: the limit in force, what is counted, what is wanted."""

    scope: Scope
    cap: Cap
    limit: int
    counted: int
    wanted: int


class Raises(Protocol):
    """Caps that the operator raised by a signature, and requests for that."""

    def find_limit(self, scope: Scope, cap: Cap) -> int:
        """Give the limit in force: the configured one, or a higher one that was signed for."""
        ...

    def ask(self, scope: Scope, cap: Cap, account: Account, *, needed: int, currency: str) -> str:
        """Ask the operator for room; gives the approval that waits, or nothing."""
        ...


@dataclass(frozen=True, kw_only=True)
class SpendBook:
    ledger: Ledger
    clock: Clock
    raises: Raises
    complete: Callable[[Account], Account]
    """Finds the actor and the goal of an account by its plan and its story."""
    find_goal_limit: Callable[[str, str], int | None] = lambda _goal, _currency: None
    """Gives the most money that a goal was signed for, in billionths of a currency; None: any."""
    _reserving: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _under_way: set[str] = field(default_factory=set[str], repr=False)

    def read_settings(self) -> Spend:
        """Give what the signed configuration says."""
        return contract.read_configuration(self.ledger).spend

    def has_caps(self, account: Account) -> bool:
        """Tell whether anything limits what is called on an account."""
        return bool(self._list_caps(self.complete(account)))

    def reserve(self, account: Account, estimate: Estimate) -> Reservation | None:
        """Take room for a call under every cap; None where there are no caps, or refused."""
        whole_account = self.complete(account)
        if not self._list_caps(whole_account):
            return None
        with self._reserving:
            for _ in range(_MOST_TRIES):
                version = self.ledger.version(SUBJECT)
                reservation = self._make_reservation(whole_account, estimate)
                if self._append_reservation(reservation, version):
                    return reservation
        raise SpendRefused(
            "other calls took room under the caps each time this one was counted",
            code="spend_busy",
            next_step="try again",
        )

    def settle(self, reservation: Reservation, report: Report, *, received_bytes: int) -> None:
        """Count what a server reported, where that is possible; else the reservation counts."""
        sent_bytes = reservation.estimate.sent_bytes
        doubt = judge_report(report, sent_bytes=sent_bytes, received_bytes=received_bytes)
        if doubt:
            self.settle_uncertain(reservation, doubt)
            return
        tokens = (report.input_tokens, report.output_tokens, report.cached_tokens)
        self._append_settlement(reservation, price_usage(reservation.price, *tokens), "")

    def settle_uncertain(self, reservation: Reservation, why: str) -> None:
        """Let all that was reserved count, because nobody knows what the call took."""
        self._append_settlement(reservation, reservation.reserved, why)

    def release(self, reservation: Reservation) -> None:
        """Count nothing: the call never reached its model."""
        self._append_settlement(reservation, Amount(), "")

    def waits(self, waiter: str) -> bool:
        """Tell whether a plan or a goal was refused for want of room and would be refused now."""
        try:
            return self._find_full_for(waiter) is not None
        except SpendRefused:
            return True

    def lacks_money(self, goal: str) -> bool:
        """Tell whether a goal was refused because of its own budget of money, and would be now."""
        try:
            full = self._find_full_for(goal)
        except SpendRefused:
            return False
        return full is not None and bool(full.cap.budget)

    def read_total(self, scope: Scope) -> Total:
        rows = self.ledger.query(
            "SELECT tokens, nano, uncertain_tokens, uncertain_nano, reserved_tokens, reserved_nano"
            " FROM spend_total WHERE scope = ?",
            [scope.key],
        )
        return make_total(rows[0]) if rows else Total()

    def is_under_way(self, call: str) -> bool:
        return call in self._under_way

    def today(self) -> str:
        return format_time(self.clock.now())[:10]

    def _make_reservation(self, account: Account, estimate: Estimate) -> Reservation:
        try:
            price = self._find_price(account, estimate.model)
        except SpendRefused:
            self._record_reached(account, estimate, cap="spend.prices", approval="")
            raise
        amount = price_reservation(price, estimate.input_tokens, estimate.output_tokens)
        if full := self._find_full(account, estimate.model, amount):
            raise self._refuse(account, estimate, full)
        return Reservation(
            call=random_id("spend"),
            day=self.today(),
            account=account,
            estimate=estimate,
            price=price,
            reserved=amount,
        )

    def _append_reservation(self, reservation: Reservation, version: int) -> bool:
        data = {
            **_describe_call(reservation),
            "input_tokens": reservation.estimate.input_tokens,
            "output_tokens": reservation.estimate.output_tokens,
        }
        event = Event(
            type=RESERVED,
            actor=_ACTOR,
            data=data,
            subject=SUBJECT,
            correlation=reservation.account.correlation or random_id("cor"),
        )
        self._under_way.add(reservation.call)
        try:
            self.ledger.append([event], expect={SUBJECT: version})
        except StaleVersion:
            self._under_way.discard(reservation.call)
            return False
        except BaseException:  # whatever it was, no call follows that could be under way
            self._under_way.discard(reservation.call)
            raise
        return True

    def _append_settlement(self, reservation: Reservation, counted: Amount, doubt: str) -> None:
        data = {
            **_describe_call(reservation),
            "counted": counted.as_dict(),
            "certain": not doubt,
            "why": doubt,
        }
        event = Event(
            type=SETTLED,
            actor=_ACTOR,
            data=data,
            correlation=reservation.account.correlation or random_id("cor"),
            key=f"settled:{reservation.call}",
        )
        self._under_way.discard(reservation.call)
        self.ledger.append([event])

    def _list_caps(self, account: Account) -> tuple[Cap, ...]:
        """Give the caps of the configuration, and that of the goal that a call is made for."""
        settings = self.read_settings()
        caps, goal = list_caps(settings), account.goal
        limit = self.find_goal_limit(goal, settings.currency) if goal else None
        if limit is None:
            return caps
        return (*caps, Cap(kind=GOAL, measure=MONEY, limit=limit, budget=goal))

    def _find_price(self, account: Account, model: str) -> Price | None:
        """Give a model's price; without one, only caps in tokens can be kept."""
        try:
            return self.read_settings().find_price(model)
        except BadSetting as error:
            if has_money_cap(self._list_caps(account)):
                raise SpendRefused(
                    f"{error.detail}, and a cap on money is set",
                    code="no_price",
                    next_step=error.next_step,
                ) from None
            return None

    def _find_full_for(self, waiter: str) -> _Full | None:
        """Give the cap that keeps something waiting; raises where its model has no price."""
        rows = self.ledger.query("SELECT need FROM spend_waiting WHERE id = ?", [waiter])
        if not rows:
            return None
        need = json.loads(rows[0][0])
        tokens, account = need["wanted"], Account(**need["account"])
        price = self._find_price(account, need["model"])
        amount = price_reservation(price, tokens["input_tokens"], tokens["output_tokens"])
        return self._find_full(account, need["model"], amount)

    def _find_full(self, account: Account, model: str, amount: Amount) -> _Full | None:
        """Give the first cap that has no room for an amount."""
        day = self.today()
        scopes = {s.kind: s for s in list_scopes(account.as_dict(), day=day, model=model)}
        for cap in self._list_caps(account):
            scope = scopes.get(cap.kind)
            if scope is None:
                continue
            limit = cap.limit if cap.budget else self.raises.find_limit(scope, cap)
            total = self.read_total(scope)
            if not replace(cap, limit=limit).has_room(total, amount):
                return _Full(
                    scope=scope,
                    cap=cap,
                    limit=limit,
                    counted=cap.read(total.counted),
                    wanted=cap.read(amount),
                )
        return None

    def _refuse(self, account: Account, estimate: Estimate, full: _Full) -> SpendRefused:
        """Ask the operator for room, note who waits for it, and give the refusal in words."""
        currency, cap = self.read_settings().currency, full.cap
        if cap.budget:
            return self._refuse_goal(account, estimate, full)
        needed = full.counted + full.wanted
        approval = self.raises.ask(full.scope, cap, account, needed=needed, currency=currency)
        self._record_reached(account, estimate, cap=cap.setting, approval=approval)
        edit = f"set spend.{cap.setting} in astra.toml and run `astra config sign`"
        return SpendRefused(
            f"the cap {cap.setting} of {self._describe_full(full)}",
            next_step=f"raise it: astra approve {approval}; or {edit}" if approval else edit,
            approval_id=approval,
            cap=cap.setting,
        )

    def _refuse_goal(self, account: Account, estimate: Estimate, full: _Full) -> SpendRefused:
        """Note that a goal used its money up, and what of it waits; a signature renews it."""
        for waiter in {account.waiter, account.goal}:
            self._record_reached(
                account, estimate, cap=full.cap.setting, approval="", waiter=waiter
            )
        return SpendRefused(
            f"the {full.cap.setting} of {self._describe_full(full)}",
            code="goal_budget_spent",
            next_step=f"sign for it once more: astra goals adopt {account.goal}",
            cap=full.cap.setting,
        )

    def _describe_full(self, full: _Full) -> str:
        limit, sum_so_far, call_size = (
            describe_limit(full.cap.measure, value, self.read_settings().currency)
            for value in (full.limit, full.counted, full.wanted)
        )
        return f"{limit} is reached: {sum_so_far} are counted, and this call may take {call_size}"

    def _record_reached(
        self, account: Account, estimate: Estimate, *, cap: str, approval: str, waiter: str = ""
    ) -> None:
        """Say once that a plan or a goal waits; what only talks is told in its answer."""
        waiter = waiter or account.waiter
        if not waiter or self.waits(waiter):
            return
        tokens = {"input_tokens": estimate.input_tokens, "output_tokens": estimate.output_tokens}
        data = {
            "waiter": waiter,
            "account": account.as_dict(),
            "model": estimate.model,
            "wanted": tokens,
            "cap": cap,
            "approval": approval,
        }
        story = account.correlation or random_id("cor")
        self.ledger.append([Event(type=REACHED, actor=_ACTOR, data=data, correlation=story)])


def make_total(row: tuple[Any, ...]) -> Total:
    tokens, nano, uncertain_tokens, uncertain_nano, reserved_tokens, reserved_nano = row
    return Total(
        settled=Amount(tokens=tokens, nano=nano),
        uncertain=Amount(tokens=uncertain_tokens, nano=uncertain_nano),
        reserved=Amount(tokens=reserved_tokens, nano=reserved_nano),
    )


def _describe_call(reservation: Reservation) -> Mapping[str, Any]:
    return {
        "call": reservation.call,
        "day": reservation.day,
        "model": reservation.estimate.model,
        **reservation.account.as_dict(),
        "reserved": reservation.reserved.as_dict(),
    }
