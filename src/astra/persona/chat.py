"""Talking with the persona: it speaks, calls tools as an agent does, and asks when it has to.

    question on disk → model → its calls, each through the gate → model → … → answer on disk

Whoever listens hears `Heard` as it happens. The persona is always an agent: it gets the tools that
an agent gets, behind the same gate, whoever it talks with. That a call waits for a person is said
by the server in the answer itself where the model does not.
"""

import re
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

from astra.persona import conversations, introduction
from astra.persona.conversations import PERSON, Conversation, Conversations, Deletion, Texts
from astra.persona.speech import Cut, FromPerson, FromPersona, Offered, Talkers, Utterance
from astra.persona.tool_choice import MESSAGES_LOOKED_AT, ToolChoice, choose_tools
from astra.persona.turn import Tools, Turn
from astra.plans.prompts import DIGEST, untrusted
from astra.spend.model import Account
from astra.trusted.kernel.errors import (
    AstraError,
    BadInput,
    Conflict,
    LedgerUncertain,
    Refused,
)
from astra.trusted.kernel.ids import random_id
from astra.trusted.kernel.masking import mask
from astra.trusted.ledger.ports import Ledger
from astra.trusted.ledger.record import Event, Record
from astra.trusted.policy.decision import Reason

Door = Callable[[str, frozenset[str]], Tools]
PROMPT = "chat-2"
LONGEST_QUESTION = 20_000
MOST_AT_ONCE = 4
_MOST_REMEMBERED, _MOST_CHARACTERS = 40, 60_000
PERSONA_MODE, PLANNING = "PERSONA_MODE_ENABLED", "AGENT_PLANNING_ENABLED"
ESCALATION = "AGENT_AUTO_ESCALATE_ENABLED"
_NO = re.compile(r"\s*(no|nope|nah|not now|not yet|never|nein|non|nee)\b", re.IGNORECASE)
SUGGEST = Offered(
    name="suggest_project",
    description="Suggest to turn a long request into a project: a plan that the person approves"
    " once and that then works by itself. The person sees the suggestion and decides.",
    schema={
        "type": "object",
        "properties": {"description": {"type": "string", "description": "what it would achieve"}},
        "required": ["description"],
    },
)
_PROJECT = """\
When a request would take many steps or hours, you may call `suggest_project` once instead of \
starting on it. It starts nothing; if the person says no, do not come back to it."""


@dataclass(frozen=True, kw_only=True)
class Chat:
    ledger: Ledger
    texts: Texts
    talkers: Talkers
    door: Door
    """Gives the tools for a story, without those of flags that are off where the caller is."""
    flags: Callable[[frozenset[str]], Mapping[str, bool]]
    stopped: Callable[[], bool]
    digest: Callable[[], str]
    """Gives what happened lately, in short."""
    kept: Callable[[str], None]
    """Called with a conversation's id when something was added to it."""
    removed: Callable[[str], None]
    """Called with a conversation's id when it was deleted."""
    _speaking: dict[str, Cut] = field(default_factory=dict[str, Cut], repr=False)
    _changed: threading.Condition = field(default_factory=threading.Condition, repr=False)

    @property
    def conversations(self) -> Conversations:
        return Conversations(self.ledger, self.texts)

    def require_available(self, off: frozenset[str] = frozenset()) -> None:
        """Raise why nobody can be talked with now."""
        if why := self.find_closed_reason(off):
            raise why
        self.talkers.talker()

    def find_closed_reason(self, off: frozenset[str]) -> AstraError | None:
        if self.stopped():
            return Refused(
                "everything is stopped", code=str(Reason.STOPPED), next_step="astra start"
            )
        if not self.flags(off)[PERSONA_MODE]:
            return Refused(
                f"the persona is switched off ({PERSONA_MODE})",
                code=str(Reason.FLAG_OFF),
                next_step=f"an operator turns it on with `astra flags set {PERSONA_MODE} on`",
            )
        return None

    def ask(
        self,
        text: str,
        *,
        actor: str,
        conversation: str | None = None,
        told: str = "",
        off: frozenset[str] = frozenset(),
    ) -> Turn:
        """Keep a question and give the turn that answers it, which has to be run.

        `told` is what a client says went before, where the conversation is not one of ours.
        """
        self.require_available(off)
        question = _clean_question(text)
        identifier = self.conversations.get(conversation).id if conversation else random_id("chat")
        cancellation = self._claim_conversation(identifier)
        try:
            known_conversation = self.conversations.get(identifier) if conversation else None
            record = self._keep_question(identifier, known_conversation, question, actor)
            return self._make_turn(record, cancellation, told, off)
        except BaseException:  # whatever it was, the place of this conversation is free again
            self._release_conversation(identifier, cancellation)
            raise

    def silence(self, identifier: str, *, actor: str) -> Conversation:
        """Suggest no project in this conversation any more."""
        conversation = self.conversations.get(identifier)
        if not conversation.silenced:
            self.ledger.append([_make_silenced_event(conversation, actor)])
        return self.conversations.get(identifier)

    def delete(self, identifier: str, *, actor: str) -> Deletion:
        """Take a conversation out of view and its texts off the disk; its records stay."""
        cancellation = self._claim_conversation(identifier, counts=False)
        try:
            deletion = self.conversations.describe_deletion(identifier)
            conversation = self.conversations.get(identifier)
            event = Event(
                type=conversations.DELETED,
                actor=actor,
                data={"messages": deletion.messages, "in_ledger": deletion.in_ledger},
                subject=identifier,
                correlation=conversation.correlation,
            )
            self.ledger.append([event])
            self.texts.remove(identifier)
            self.removed(identifier)
        finally:
            self._release_conversation(identifier, cancellation)
        return deletion

    def is_answering(self, identifier: str) -> bool:
        return identifier in self._speaking

    def leave(self, seconds: float = 5.0) -> None:
        """Cut off every answer under way, and wait until what came of it is kept."""
        with self._changed:
            for cancellation in self._speaking.values():
                cancellation.set()
            self._changed.wait_for(lambda: not self._speaking, seconds)

    def _keep_question(
        self, identifier: str, found: Conversation | None, question: str, actor: str
    ) -> Record:
        chain = self.conversations.read_chain(identifier) if found else ""
        document = conversations.write_document(chain, PERSON, question)
        digest = self.texts.keep(identifier, document)
        event = Event(
            type=conversations.ASKED,
            actor=actor,
            data={"who": PERSON, "digest": digest, "length": len(question)},
            subject=identifier,
            correlation=found.correlation if found else random_id("cor"),
        )
        silencing = found is not None and self._is_suggestion_declined(found, question)
        also = [_make_silenced_event(found, actor)] if found and silencing else []
        try:
            return self.ledger.append([event, *also])[0]
        except LedgerUncertain:  # the record may be there; the next start looks
            raise
        except BaseException:  # whatever it was: a text that no record names is nobody's
            self.texts.remove(identifier, digest)
            raise

    def _is_suggestion_declined(self, found: Conversation, question: str) -> bool:
        last = self.conversations.messages(found.id, last=1)
        suggested = bool(last and last[0].facts.get("suggestion"))
        return suggested and not found.silenced and _NO.match(question) is not None

    def _make_turn(self, record: Record, cut: Cut, told: str, off: frozenset[str]) -> Turn:
        identifier = record.subject or ""
        flags = self.flags(off)
        suggesting = self._may_suggest(identifier, flags)
        tools = self.door(record.correlation, off)
        account = Account(actor=record.actor, correlation=record.correlation)
        turn = Turn(
            conversation=identifier,
            correlation=record.correlation,
            asked=record.sequence,
            ledger=self.ledger,
            texts=self.texts,
            talker=self.talkers.talker(account),
            tools=tools,
            closed=lambda: self.find_closed_reason(off),
            rules=self._write_rules(flags, suggesting=suggesting, told=told),
            choice=self._choose_tools(identifier, tools, suggesting=suggesting),
            history=self._read_history(identifier),
            chain=self.conversations.read_chain(identifier),
            prompt=PROMPT,
            over=self._finish_turn,
            cut=cut,
        )
        # Whoever asked may be gone before the answer begins; then nobody runs it.
        weakref.finalize(turn, self._release_conversation, identifier, cut)
        return turn

    def _choose_tools(self, identifier: str, tools: Tools, *, suggesting: bool) -> ToolChoice:
        messages = self.conversations.messages(identifier, last=MESSAGES_LOOKED_AT)
        offered = tools.list_offered()
        return choose_tools([*offered, SUGGEST] if suggesting else offered, messages)

    def _may_suggest(self, identifier: str, flags: Mapping[str, bool]) -> bool:
        is_enabled = flags[ESCALATION] and flags[PLANNING]
        return is_enabled and not self.conversations.get(identifier).silenced

    def _write_rules(self, flags: Mapping[str, bool], *, suggesting: bool, told: str) -> str:
        introduction_text = "\n".join(
            (
                introduction.describe_switched_off(flags),
                introduction.approvals(lambda name: name.replace(".", "_")),
            )
        )
        rules = _load_prompt().format(
            introduction=introduction_text, project=_PROJECT if suggesting else ""
        )
        happened = self.digest()
        data = [untrusted(DIGEST, happened)] if happened else []
        data += [untrusted("what the client says went before", mask(told))] if told else []
        return "\n\n".join([rules, *data])

    def _read_history(self, identifier: str) -> list[Utterance]:
        """Give the end of what was said, as much of it as a model can be asked to read."""
        characters_left, utterances = _MOST_CHARACTERS, list[Utterance]()
        for message in reversed(self.conversations.messages(identifier, last=_MOST_REMEMBERED)):
            characters_left -= len(message.text)
            if characters_left < 0 and utterances:
                break
            text = message.text or "(nothing)"
            utterances.append(FromPerson(text) if message.who == PERSON else FromPersona(text))
        return list(_fill_missing_answers(reversed(utterances)))

    def _claim_conversation(self, identifier: str, *, counts: bool = True) -> Cut:
        """Take a conversation for oneself; what `counts` is an answer, of which few run at once."""
        with self._changed:
            if identifier in self._speaking:
                raise Conflict(
                    "the persona is still answering in this conversation",
                    code="conversation_busy",
                    next_step="wait for the answer, or stop it",
                )
            if counts and len(self._speaking) >= MOST_AT_ONCE:
                raise Conflict(
                    f"{MOST_AT_ONCE} conversations are being answered already",
                    code="chat_busy",
                    next_step="try again when one of them is done",
                )
            return self._speaking.setdefault(identifier, Cut())

    def _release_conversation(self, identifier: str, cut: Cut) -> None:
        with self._changed:
            if self._speaking.get(identifier) is cut:
                del self._speaking[identifier]
            self._changed.notify_all()

    def _finish_turn(self, turn: Turn) -> None:
        try:
            self.kept(turn.conversation)
        finally:
            self._release_conversation(turn.conversation, turn.cut)


def _clean_question(text: str) -> str:
    question = mask(text.encode("utf-8", errors="replace").decode()).strip()
    if not question or len(question) > LONGEST_QUESTION:
        raise BadInput(
            f"a message has 1 to {LONGEST_QUESTION:,} characters, this one {len(question):,}",
            code="bad_message",
            next_step="write something; put long texts into a file the agent can read",
        )
    return question


def _fill_missing_answers(said: Iterable[Utterance]) -> Iterable[Utterance]:
    """Put something where an answer is missing: some models insist on turns."""
    awaits_answer = False
    for utterance in said:
        if isinstance(utterance, FromPerson):
            if awaits_answer:
                yield FromPersona("(no answer was kept)")
            awaits_answer = True
        else:
            awaits_answer = False
        yield utterance


def _make_silenced_event(found: Conversation, actor: str) -> Event:
    return Event(
        type=conversations.SILENCED,
        actor=actor,
        subject=found.id,
        correlation=found.correlation,
    )


@cache
def _load_prompt() -> str:
    place = resources.files("astra.persona").joinpath("prompts", f"{PROMPT}.md")
    return place.read_text(encoding="utf-8")
