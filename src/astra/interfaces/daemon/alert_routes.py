"""Alerts over HTTP: what is raised, every rule with its value, silence with a signature."""

from typing import Annotated, Any

from fastapi import Body, FastAPI, Request
from pydantic import Field

from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon.models import RecordShown, Shape
from astra.operations import alert_book
from astra.trusted.door.requests import caller
from astra.trusted.kernel.errors import NotFound
from astra.trusted.policy.authority import Signed


class AlertShown(Shape):
    id: str
    name: str
    severity: str
    text: str
    next_step: str
    value: float
    raised_at: str
    told_at: str
    silenced: bool


class AlertRuleShown(Shape):
    name: str
    rule: str = Field(description="what is compared, in words")
    signal: str
    severity: str
    about: str
    clear: float = Field(description="back at this value it is over")
    value: float | None = Field(description="what it compares now; null where that is not known")
    beyond: bool
    silenced_until: str | None


class Alerts(Shape):
    items: list[AlertShown] = Field(description="the alerts that are raised now")
    rules: list[AlertRuleShown]
    history: list[RecordShown] = Field(description="what alerts did lately, newest first")
    next: str | None = None


class SilenceContent(Shape):
    """What the operator signs to silence a rule."""

    alert: str = Field(max_length=40)
    until: str = Field(max_length=40)
    reason: str = Field(max_length=alert_book.LONGEST_REASON)


class SilenceChanged(Shape):
    alert: str
    sequence: int


def add(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/alerts", response_model=Alerts)
    def list_alerts() -> dict[str, Any]:
        """Show what is raised now, and what every rule compares."""
        return _read_alerts(runtime)

    @app.post("/api/alerts/check", response_model=Alerts)
    def check_alerts() -> dict[str, Any]:
        """Compare every rule now, not at the next turn."""
        runtime.alerting.check()
        return _read_alerts(runtime)

    @app.post("/api/alerts/silences", response_model=SilenceChanged)
    def silence_alert(
        content: Annotated[SilenceContent, Body()], authority: Annotated[dict[str, Any], Body()]
    ) -> dict[str, Any]:
        """Tell nobody what a rule raises, until a time, with the operator's signature."""
        _require_rule(runtime, content.alert)
        now = runtime.clock.now()
        signature = Signed.read(authority)
        record = alert_book.silence(runtime.ledger, content.model_dump(), signature, now=now)
        return {"alert": content.alert, "sequence": record.sequence}

    @app.delete("/api/alerts/silences/{name}", response_model=SilenceChanged)
    def end_silence(request: Request, name: str) -> dict[str, Any]:
        now = runtime.clock.now()
        record = alert_book.unsilence(runtime.ledger, name, actor=caller(request), now=now)
        return {"alert": name, "sequence": record.sequence}


def _read_alerts(runtime: Runtime) -> dict[str, Any]:
    ledger = runtime.ledger
    return {
        "items": [
            alert.as_dict() for alert in alert_book.list_shown(ledger, now=runtime.clock.now())
        ],
        "rules": runtime.alerting.list_rules(),
        "history": [RecordShown.show(record) for record in alert_book.list_history(ledger)],
        "next": None,
    }


def _require_rule(runtime: Runtime, name: str) -> None:
    names = [rule.name for rule in runtime.alerting.rules()]
    if name not in names:
        raise NotFound(f"there is no alert rule {name[:40]!r}", next_step=", ".join(names))
