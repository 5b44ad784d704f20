"""One turn of a conversation: from a question that is on disk to an answer that is."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from astra.persona import conversations
from astra.persona.speech import (
    Cut,
    Dialogue,
    FromPersona,
    FromTools,
    Offered,
    Result,
    Spoken,
    Talker,
    Utterance,
    Wanted,
)
from astra.plans.ports import ModelUnavailable, Usage
from astra.plans.prompts import untrusted
from astra.trusted.kernel.errors import AstraError, NeedsApproval
from astra.trusted.kernel.masking import mask, redact
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event, Record
from astra.trusted.policy.telemetry import shown

LONGEST_ANSWER = 60_000
MOST_ROUNDS, MOST_CALLS = 12, 8
_LONGEST_RESULT, _LONGEST_SUGGESTION, _LONGEST_DETAIL = 20_000, 2_000, 500
DONE, CUT, FAILED, LIMIT = "done", "cut", "failed", "limit"
ACTOR = "agent:chat"
_SUGGESTION = "suggest_project"


class Tools(Protocol):
    """The counter, as the persona calls at it."""

    def offered(self) -> list[Offered]:
        """Name the tools that an agent sees now."""
        ...

    def run(self, tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Pass the gate and run the tool, or raise why not."""
        ...


@dataclass(frozen=True, kw_only=True)
class Heard:
    """Something that whoever listens hears: `text`, `call`, `result`, `suggestion` or `end`."""

    kind: str
    data: Mapping[str, Any]


Tell = Callable[[Heard], None]


@dataclass(kw_only=True)
class Turn:
    conversation: str
    correlation: str
    asked: int
    ledger: Ledger
    talker: Talker
    tools: Tools
    closed: Callable[[], AstraError | None]
    rules: str
    offered: Sequence[Offered]
    history: Sequence[Utterance]
    chain: str
    prompt: str
    over: "Callable[[Turn], None]"
    cut: Cut
    _text: str = ""
    _calls: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    _usage: Usage = field(default_factory=Usage)
    _suggestion: str | None = None

    def run(self, tell: Tell) -> Record:
        """Answer, and keep the answer; `tell` hears it as it comes."""
        try:
            ended, trouble = self._speak(tell)
            if reminder := self._unsaid():
                self._say(reminder, tell)
            record = self._keep(ended, trouble)
        finally:
            self.over(self)
        tell(Heard(kind="end", data={**record.data, "sequence": record.sequence}))
        return record

    def _speak(self, tell: Tell) -> tuple[str, AstraError | None]:
        utterances = list(self.history)
        try:
            for _ in range(MOST_ROUNDS):
                if (why := self.closed()) is not None:
                    return FAILED, why
                reply = self._listen(utterances, tell)
                if reply.cut or self.cut.is_set():
                    return CUT, None
                if not reply.calls:
                    return DONE, None if self._text else _nothing(self.talker.name)
                results = [self._call(call, tell) for call in reply.calls[:MOST_CALLS]]
                calls = reply.calls[:MOST_CALLS]
                utterances += [FromPersona(reply.text, calls), FromTools(tuple(results))]
        except ModelUnavailable as error:
            return FAILED, error
        return LIMIT, None

    def _listen(self, utterances: Sequence[Utterance], tell: Tell) -> Spoken:
        if self._text:
            self._say("\n\n", tell)
        dialogue = Dialogue(rules=self.rules, utterances=utterances, tools=self.offered)
        reply = self.talker.converse(dialogue, say=lambda text: self._say(text, tell), cut=self.cut)
        self._usage = Usage(
            input_tokens=self._usage.input_tokens + reply.usage.input_tokens,
            output_tokens=self._usage.output_tokens + reply.usage.output_tokens,
        )
        return reply

    def _say(self, text: str, tell: Tell) -> None:
        text = text[: LONGEST_ANSWER - len(self._text)]
        if text:
            self._text += text
            tell(Heard(kind="text", data={"text": text}))

    def _call(self, wanted: Wanted, tell: Tell) -> Result:
        number = len(self._calls) + 1
        if wanted.tool == _SUGGESTION:
            return self._suggest(wanted, tell)
        arguments = shown(dict(wanted.arguments or {}))
        call = {"number": number, "tool": wanted.tool[:100], "arguments": arguments}
        tell(Heard(kind="call", data=call))
        outcome, answer = self._run(wanted)
        self._calls.append({**call, **outcome})
        tell(Heard(kind="result", data={**call, **outcome}))
        text = untrusted(f"what {wanted.tool[:100]} answered", answer[:_LONGEST_RESULT])
        return Result(id=wanted.id, tool=wanted.tool, text=text)

    def _run(self, wanted: Wanted) -> tuple[dict[str, Any], str]:
        """Give how a call went, and what the model hears of it."""
        if wanted.arguments is None:
            return _outcome("refused", "bad_arguments"), "the arguments are no JSON object"
        try:
            answer = self.tools.run(wanted.tool, wanted.arguments)
        except NeedsApproval as error:
            waits = error.facts.get("approval_id")
            return {**_refused(error), "outcome": "waiting", "approval_id": waits}, _told(error)
        except AstraError as error:
            return _refused(error), _told(error)
        except Exception as error:  # noqa: BLE001 - a tool that breaks ends its call, not the talk
            return _outcome("failed", "failed"), f"the tool broke: {type(error).__name__}"
        return _outcome("ok", "ok"), json.dumps(redact(dict(answer)), ensure_ascii=False)

    def _suggest(self, wanted: Wanted, tell: Tell) -> Result:
        text = str((wanted.arguments or {}).get("description", ""))
        self._suggestion = mask(text.encode("utf-8", errors="replace").decode())[
            :_LONGEST_SUGGESTION
        ]
        tell(Heard(kind="suggestion", data={"description": self._suggestion}))
        return Result(id=wanted.id, tool=wanted.tool, text="the person sees it and decides")

    def _unsaid(self) -> str:
        """Say what waits for a person, where the model kept quiet about it."""
        approval_ids = [call["approval_id"] for call in self._calls if call.get("approval_id")]
        unsaid = [
            approval_id
            for approval_id in dict.fromkeys(approval_ids)
            if approval_id not in self._text
        ]
        lines = [
            f"This waits for your approval: {approval_id} (astra approve {approval_id})"
            for approval_id in unsaid
        ]
        return ("\n\n" if self._text and lines else "") + "\n".join(lines)

    def _keep(self, ended: str, trouble: AstraError | None) -> Record:
        text = mask(self._text.encode("utf-8", errors="replace").decode())
        data = {
            "text": text,
            "ended": ended,
            "trouble": _problem(trouble),
            "calls": self._calls,
            "suggestion": self._suggestion,
            "model": self.talker.name,
            "usage": self._usage.as_dict(),
            "prompt": self.prompt,
            "asked": self.asked,
            "chain": conversations.link(self.chain, conversations.PERSONA, text),
        }
        event = Event(
            type=conversations.ANSWERED,
            actor=ACTOR,
            data=data,
            subject=self.conversation,
            correlation=self.correlation,
        )
        return self.ledger.append([event])[0]


def _outcome(outcome: str, code: str) -> dict[str, Any]:
    return {"outcome": outcome, "code": code}


def _refused(error: AstraError) -> dict[str, Any]:
    return {**_outcome("refused", error.reason), "detail": mask(error.detail)[:_LONGEST_DETAIL]}


def _told(error: AstraError) -> str:
    return json.dumps(error.as_dict(), default=str)


def _nothing(model: str) -> AstraError:
    return ModelUnavailable(
        f"the model {model} answered with nothing", next_step="ask again, or in other words"
    )


def _problem(trouble: AstraError | None) -> dict[str, str] | None:
    if trouble is None:
        return None
    return {"code": trouble.reason, "detail": trouble.detail, "next_step": trouble.next_step}
