"""One turn of a conversation: from a question that is on disk to an answer that is."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from astra.persona import conversations
from astra.persona.conversations import Texts
from astra.persona.speech import (
    Cut,
    Dialogue,
    FromPerson,
    FromPersona,
    FromTools,
    Offered,
    Result,
    Spoken,
    Talker,
    Utterance,
    Wanted,
)
from astra.persona.tool_choice import MORE_TOOLS, ToolChoice
from astra.persona.written_calls import find_calls
from astra.plans.ports import ModelUnavailable, Usage
from astra.plans.prompts import untrusted
from astra.spend.model import SpendRefused
from astra.trusted.kernel.errors import AstraError, NeedsApproval
from astra.trusted.kernel.masking import mask, redact
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event
from astra.trusted.policy.telemetry import shorten_arguments

LONGEST_ANSWER = 60_000
MOST_ROUNDS, MOST_CALLS = 12, 8
_LONGEST_RESULT, _LONGEST_SUGGESTION, _LONGEST_DETAIL = 20_000, 2_000, 500
DONE, CUT, FAILED, LIMIT = "done", "cut", "failed", "limit"
ACTOR = "agent:chat"
_SUGGESTION = "suggest_project"


class Tools(Protocol):
    """The counter, as the persona calls at it."""

    def list_offered(self) -> list[Offered]:
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


@dataclass(frozen=True, kw_only=True)
class Answered:
    """An answer that is on disk: its record, and all that a listener is told of it."""

    sequence: int
    data: Mapping[str, Any]


@dataclass(kw_only=True)
class Turn:
    conversation: str
    correlation: str
    asked: int
    ledger: Ledger
    texts: Texts
    talker: Talker
    tools: Tools
    closed: Callable[[], AstraError | None]
    rules: str
    choice: ToolChoice
    history: Sequence[Utterance]
    chain: str
    prompt: str
    over: "Callable[[Turn], None]"
    cut: Cut
    _text: str = ""
    _calls: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    _usage: Usage = field(default_factory=Usage)
    _suggestion: str | None = None

    def run(self, tell: Tell) -> "Answered":
        """Answer, and keep the answer; `tell` hears it as it comes."""
        try:
            ended, trouble = self._run_rounds(tell)
            if reminder := self._list_unmentioned():
                self._append_text(reminder, tell)
            answer = self._keep_answer(ended, trouble)
        finally:
            self.over(self)
        tell(Heard(kind="end", data={**answer.data, "sequence": answer.sequence}))
        return answer

    def _run_rounds(self, tell: Tell) -> tuple[str, AstraError | None]:
        utterances = list(self.history)
        try:
            for _ in range(MOST_ROUNDS):
                if (why := self.closed()) is not None:
                    return FAILED, why
                reply = self._ask_model(utterances, tell)
                if reply.cut or self.cut.is_set():
                    return CUT, None
                if not reply.calls:
                    return self._end_with(reply)
                results = [self._handle_call(call, tell) for call in reply.calls[:MOST_CALLS]]
                calls = reply.calls[:MOST_CALLS]
                utterances += [FromPersona(reply.text, calls), FromTools(tuple(results))]
        except (ModelUnavailable, SpendRefused) as error:
            return FAILED, error
        return LIMIT, None

    def _end_with(self, reply: Spoken) -> tuple[str, AstraError | None]:
        """Say how an answer ended that wants nothing more done."""
        if not self._text:
            return DONE, _make_empty_error(self.talker.name)
        is_short = reply.is_short or len(self._text) >= LONGEST_ANSWER
        return (LIMIT if is_short else DONE), None

    def _ask_model(self, utterances: Sequence[Utterance], tell: Tell) -> Spoken:
        if self._text:
            self._append_text("\n\n", tell)
        begin = len(self._text)
        dialogue = Dialogue(rules=self.rules, utterances=utterances, tools=self.choice.list_shown())
        reply = self.talker.converse(
            dialogue, say=lambda text: self._append_text(text, tell), cut=self.cut
        )
        self._usage = Usage(
            input_tokens=self._usage.input_tokens + reply.usage.input_tokens,
            output_tokens=self._usage.output_tokens + reply.usage.output_tokens,
        )
        return (
            reply
            if reply.calls or reply.cut
            else self._read_written_calls(reply, utterances, begin)
        )

    def _read_written_calls(
        self, reply: Spoken, utterances: Sequence[Utterance], begin: int
    ) -> Spoken:
        """Take calls that were written as text for calls; what is kept of the text is the rest."""
        text_calls = find_calls(
            reply.text,
            self.choice.list_names(),
            (FromPerson(self.rules), *utterances),
            first=len(self._calls) + 1,
        )
        if not text_calls.calls:
            return reply
        self._text = self._text[:begin] + text_calls.text
        return replace(reply, text=text_calls.text, calls=text_calls.calls)

    def _append_text(self, text: str, tell: Tell) -> None:
        text = text[: LONGEST_ANSWER - len(self._text)]
        if text:
            self._text += text
            tell(Heard(kind="text", data={"text": text}))

    def _handle_call(self, wanted: Wanted, tell: Tell) -> Result:
        number = len(self._calls) + 1
        if wanted.tool == _SUGGESTION:
            return self._keep_suggestion(wanted, tell)
        arguments = shorten_arguments(dict(wanted.arguments or {}))
        call = {"number": number, "tool": wanted.tool[:100], "arguments": arguments}
        tell(Heard(kind="call", data=call))
        outcome, answer = self._run_chosen_tool(wanted)
        self._calls.append({**call, **outcome})
        tell(Heard(kind="result", data={**call, **outcome}))
        text = untrusted(f"what {wanted.tool[:100]} answered", answer[:_LONGEST_RESULT])
        return Result(id=wanted.id, tool=wanted.tool, text=text)

    def _run_chosen_tool(self, wanted: Wanted) -> tuple[dict[str, Any], str]:
        """Open the set that a model asks for, or run its tool, whose set is shown from then on."""
        if wanted.tool != MORE_TOOLS:
            self.choice.open_set_of(wanted.tool)
            return self._run_tool(wanted)
        names = self.choice.open_set(str((wanted.arguments or {}).get("set", "")))
        if names:
            return _make_outcome("ok", "ok"), f"you have these tools now: {', '.join(names)}"
        sets = ", ".join(self.choice.list_closed_sets()) or "none: you have every tool"
        return _make_outcome("refused", "unknown_toolset"), f"no such set; there are: {sets}"

    def _run_tool(self, wanted: Wanted) -> tuple[dict[str, Any], str]:
        """Give how a call went, and what the model hears of it."""
        if wanted.arguments is None:
            return _make_outcome("refused", "bad_arguments"), "the arguments are no JSON object"
        try:
            answer = self.tools.run(wanted.tool, wanted.arguments)
        except NeedsApproval as error:
            waits = error.facts.get("approval_id")
            return {
                **_describe_refusal(error),
                "outcome": "waiting",
                "approval_id": waits,
            }, _error_to_json(error)
        except AstraError as error:
            return _describe_refusal(error), _error_to_json(error)
        except Exception as error:  # noqa: BLE001 - a tool that breaks ends its call, not the talk
            return _make_outcome("failed", "failed"), f"the tool broke: {type(error).__name__}"
        return _make_outcome("ok", "ok"), json.dumps(redact(dict(answer)), ensure_ascii=False)

    def _keep_suggestion(self, wanted: Wanted, tell: Tell) -> Result:
        text = str((wanted.arguments or {}).get("description", ""))
        self._suggestion = mask(text.encode("utf-8", errors="replace").decode())[
            :_LONGEST_SUGGESTION
        ]
        tell(Heard(kind="suggestion", data={"description": self._suggestion}))
        return Result(id=wanted.id, tool=wanted.tool, text="the person sees it and decides")

    def _list_unmentioned(self) -> str:
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

    def _keep_answer(self, ended: str, trouble: AstraError | None) -> "Answered":
        """Keep the words in a document of their own, then the record that names it."""
        details: dict[str, Any] = {
            "text": mask(self._text.encode("utf-8", errors="replace").decode()),
            "calls": self._calls,
            "suggestion": self._suggestion,
            "trouble": _trouble_to_dict(trouble),
        }
        document = conversations.write_document(self.chain, conversations.PERSONA, **details)
        digest = self.texts.keep(self.conversation, document)
        facts = {
            "ended": ended,
            "model": self.talker.name,
            "usage": self._usage.as_dict(),
            "prompt": self.prompt,
            "asked": self.asked,
        }
        event = Event(
            type=conversations.ANSWERED,
            actor=ACTOR,
            data={
                **facts,
                "who": conversations.PERSONA,
                "digest": digest,
                "length": len(details["text"]),
                "calls": [_without_words(call) for call in self._calls],
                "trouble": _without_words(details["trouble"]) if trouble else None,
            },
            subject=self.conversation,
            correlation=self.correlation,
        )
        record = self.ledger.append([event])[0]
        return Answered(sequence=record.sequence, data={**facts, **details})


_WORDLESS = ("number", "tool", "outcome", "code", "approval_id", "upstream_status")


def _without_words(table: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what may quote a conversation: arguments and details are in its document."""
    return {name: table[name] for name in _WORDLESS if name in table}


def _make_outcome(outcome: str, code: str) -> dict[str, Any]:
    return {"outcome": outcome, "code": code}


def _describe_refusal(error: AstraError) -> dict[str, Any]:
    return {
        **_make_outcome("refused", error.reason),
        "detail": mask(error.detail)[:_LONGEST_DETAIL],
    }


def _error_to_json(error: AstraError) -> str:
    return json.dumps(error.as_dict(), default=str)


def _make_empty_error(model: str) -> AstraError:
    return ModelUnavailable(
        f"the model {model} answered with nothing", next_step="ask again, or in other words"
    )


def _trouble_to_dict(trouble: AstraError | None) -> dict[str, Any] | None:
    if trouble is None:
        return None
    facts = {"code": trouble.reason, "detail": trouble.detail, "next_step": trouble.next_step}
    upstream = trouble.facts.get("upstream_status")
    return {**facts, "upstream_status": upstream} if upstream else facts
