"""The chat over a counter in memory, with a model that says what a test wrote for it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from astra.adapters.chat_door import CounterForChat
from astra.adapters.conversation_texts import ConversationTexts
from astra.persona.awareness import Awareness
from astra.persona.chat import Chat
from astra.persona.digest import Digest
from astra.persona.speech import Cut, Dialogue, Say, Spoken, Talker, Wanted
from astra.persona.turn import Heard
from astra.plans.ports import NoModel, Usage
from astra.spend.model import NOBODY, Account
from astra.testing import CounterInMemory
from astra.trusted.calls.registry import Answer, AnyTool, Arguments, Tool
from astra.trusted.ledger import views
from astra.trusted.policy.call import Tier

Line = str | Wanted | list[Wanted] | BaseException | Callable[[Dialogue, Say, Cut], Spoken]


@dataclass
class ScriptedTalker:
    """A model that says what a test wrote for it, one line a call."""

    lines: list[Line] = field(default_factory=list[Line])
    heard: list[Dialogue] = field(default_factory=list[Dialogue])
    name: str = "scripted"

    def converse(self, dialogue: Dialogue, *, say: Say, cut: Cut) -> Spoken:
        self.heard.append(dialogue)
        line = self.lines.pop(0)
        if isinstance(line, BaseException):
            raise line
        if callable(line):
            return line(dialogue, say, cut)
        usage = Usage(input_tokens=100, output_tokens=10)
        if isinstance(line, str):
            for word in line.split(" "):
                say(f"{word} ")
            return Spoken(text=line, usage=usage)
        calls = tuple(line) if isinstance(line, list) else (line,)
        return Spoken(calls=calls, usage=usage)


class Note(Arguments):
    text: str


class Noted(Answer):
    text: str


class Talk:
    def __init__(self, folder: Path) -> None:
        self.texts = ConversationTexts(folder)
        self.notes: list[str] = []
        self.work = CounterInMemory(
            self._tool("look", Tier.READ),
            self._tool("write", Tier.LOCAL_WRITE),
            self._tool("send", Tier.EXTERNAL),
            self._tool("code", Tier.LOCAL_WRITE, flags=("ASTRA_CODE_WRITE_ENABLED",)),
            self._tool("decide", Tier.LOCAL_WRITE, operator_only=True),
            self._tool("propose_belief", Tier.LOCAL_WRITE),
        )
        self.gate = self.work.gate
        self.ledger = self.gate.root.ledger
        self.model: ScriptedTalker | None = ScriptedTalker()
        self.copied: list[str] = []
        self.removed: list[str] = []
        self.chat = Chat(
            ledger=self.ledger,
            texts=self.texts,
            talkers=self,
            door=lambda correlation, off: CounterForChat(
                counter=self.work.counter,
                flags=self.flags(off),
                correlation=correlation,
                off=off,
            ),
            flags=self.flags,
            stopped=lambda: self.gate.stopped,
            digest=Digest(Awareness(self.ledger), self.gate.belief_book).write,
            kept=self.copied.append,
            removed=self.removed.append,
        )

    def flags(self, off: frozenset[str]) -> dict[str, bool]:
        return {name: on and name not in off for name, on in self.gate.on.items()}

    def talker(self, _account: Account = NOBODY) -> Talker:
        if self.model is None:
            raise NoModel("no model is configured", next_step="set [model]")
        return self.model

    def script(self, *lines: Line) -> ScriptedTalker:
        assert self.model is not None
        self.model.lines = list(lines)
        return self.model

    def say(self, text: str, conversation: str | None = None) -> tuple[str, dict[str, Any]]:
        turn = self.chat.ask(text, actor="operator:test", conversation=conversation)
        return turn.conversation, dict(turn.run(lambda _heard: None).data)

    def hear(self, text: str) -> list[Heard]:
        heard = list[Heard]()
        self.chat.ask(text, actor="operator:test").run(heard.append)
        return heard

    def records(self, kind: str) -> list[Any]:
        return [each for each in views.records(self.ledger, limit=1000) if each.type == kind]

    def _tool(self, name: str, tier: Tier, **more: Any) -> AnyTool:
        def run(arguments: Note, _services: Any) -> Noted:
            self.notes.append(f"{name} {arguments.text}")
            return Noted(text=f"{name} did {arguments.text}")

        return Tool(
            name=name,
            title=name,
            description=f"{name} something",
            tier=tier,
            input=Note,
            output=Noted,
            handler=run,
            **more,
        )


def call(tool: str, text: str = "it", number: int = 1) -> Wanted:
    return Wanted(id=f"call_{number}", tool=tool, arguments={"text": text})
