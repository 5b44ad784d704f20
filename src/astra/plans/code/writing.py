"""Having code written by a model: in the format that works for it, checked before anybody sees it.

    which place? → rewrite it → splice, parse → files

Each answer is applied and parsed at once; what does not fit goes back with the reason. A format
that does not lead anywhere gives way to the next. What comes out are whole files, which are hostile
input like everything a model says: the caller holds them to the plan's paths.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from pydantic import ConfigDict, Field, create_model
from pydantic.json_schema import SkipJsonSchema

from astra.plans import prompts
from astra.plans.answers import find_fences, unwrap
from astra.plans.asking import add_objection, ask_in_form
from astra.plans.code import memory
from astra.plans.code.blocks import apply_blocks, read_blocks, read_diff
from astra.plans.code.memory import FormatMemory, NoMemory
from astra.plans.code.places import (
    NEW_CODE,
    Place,
    Unchanged,
    describe_context,
    find_named_place,
    list_places,
    refuse_bad_syntax,
)
from astra.plans.forms import CodeForm, FileForm, Form, PlainText
from astra.plans.ports import Model, Prompt, Usage
from astra.trusted.kernel.errors import AstraError
from astra.trusted.kernel.text import one_line

MOST_TRIES, MOST_FORMATS, MOST_PLACES = 3, 2, 3
_LARGEST_FILE, _MOST_CHARACTERS = 24_000, 6_000
"""The likeliest file is shown where it fits at all, others beside it only while all are small."""
_LONGEST_REMARKS, _LONGEST_NAMES = 800, 800
Files = dict[str, str | None]


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is to be written, and the files it may concern."""

    instructions: str
    files: Mapping[str, str]
    """The files that may be changed."""
    others: Mapping[str, str] = field(default_factory=dict[str, str])
    """Files that may be read only."""
    new_files: Sequence[str] = ()
    notes: str = ""
    digest: str = ""
    """What happened lately, for whoever writes: data, like everything else here."""
    correlation: str = ""


@dataclass(frozen=True, kw_only=True)
class Written:
    files: Files = field(default_factory=dict[str, "str | None"])
    objection: str = ""
    edit_format: str = ""
    prompt: str = prompts.CODING


class PlaceForm(Form):
    """Where to change code; a model that gives whole files at once is taken at its word."""

    model_config = ConfigDict(extra="ignore", json_schema_extra={"required": ["places"]})

    places: list[str] = Field(default_factory=list[str], max_length=MOST_PLACES)
    note: SkipJsonSchema[str] = ""
    files: SkipJsonSchema[list[FileForm] | None] = None
    deleted: SkipJsonSchema[list[str]] = Field(default_factory=list[str])


class _Unusable(Exception):
    """An answer in this format led nowhere; `final` where the model says that nothing can."""

    def __init__(self, why: str, *, final: bool = False) -> None:
        super().__init__(why)
        self.final = final


@dataclass(frozen=True, kw_only=True)
class CodeWriter:
    model: Model
    count: Callable[[Usage], None] = lambda _usage: None
    """Hears what each call took, as it comes."""
    formats: FormatMemory = field(default_factory=NoMemory)

    def write(self, task: Task) -> Written:
        """Have it written, format by format; an objection says why nothing came of it."""
        ways = {
            memory.SYMBOL: self._by_places,
            memory.REPLACE: self._by_blocks,
            memory.FILES: self._by_files,
            memory.DIFF: self._by_diff,
        }
        objection = ""
        for edit_format in list(self.formats.order(self.model.name))[:MOST_FORMATS]:
            try:
                files, version = ways[edit_format](task)
            except _Unusable as error:
                objection = str(error)
                if error.final:
                    break  # a model that says it cannot says nothing against the format
                self._note(task, edit_format, worked=False)
            else:
                self._note(task, edit_format, worked=True)
                return Written(files=files, edit_format=edit_format, prompt=version)
        return Written(objection=objection)

    def _note(self, task: Task, edit_format: str, *, worked: bool) -> None:
        self.formats.note(self.model.name, edit_format, worked=worked, correlation=task.correlation)

    # The formats

    def _by_places(self, task: Task) -> tuple[Files, str]:
        places = list_places(task.files, task.new_files, task.instructions)
        answer = self._choose_places(task, places)
        if answer.files or answer.deleted:
            return _files_from(answer), prompts.PLACING
        chosen_places = [place for place in places if place.name in answer.places]
        if not chosen_places:
            raise _Unusable(_describe_nothing(answer.note), final=bool(answer.note.strip()))
        files: dict[str, str] = {}
        for place in sorted(chosen_places, key=_by_position):
            text = files.get(place.path, task.files.get(place.path, ""))
            files[place.path] = self._rewrite(task, place, text, is_only=len(chosen_places) == 1)
        changed = {path: text for path, text in files.items() if text != task.files.get(path)}
        if not changed:
            raise _Unusable("the coder left every place that it chose as it is")
        return cast("Files", changed), prompts.REWRITING

    def _by_blocks(self, task: Task) -> tuple[Files, str]:
        return self._ask_for_text(
            task, prompts.REPLACING, lambda text: apply_blocks(task.files, read_blocks(text))
        )

    def _by_diff(self, task: Task) -> tuple[Files, str]:
        return self._ask_for_text(
            task, prompts.DIFFING, lambda text: apply_blocks(task.files, read_diff(text))
        )

    def _by_files(self, task: Task) -> tuple[Files, str]:
        prompt = self._build_prompt(task, prompts.CODING)
        result = ask_in_form(self.model, prompt, CodeForm, count=self.count)
        self.count(result.reply.usage)
        if result.answer is None:
            raise _Unusable(f"the coder's answer was not in its form: {result.problem}")
        files = _files_from(result.answer)
        if not files:
            raise _Unusable(_describe_nothing(result.answer.note), final=True)
        return files, prompts.CODING

    # Small questions

    def _choose_places(self, task: Task, places: list[Place]) -> PlaceForm:
        """Take the place that the instructions name, or ask."""
        place = find_named_place(places, task.instructions)
        return PlaceForm(places=[place.name]) if place else self._ask_for_places(task, places)

    def _ask_for_places(self, task: Task, places: list[Place]) -> PlaceForm:
        outline = "\n".join(place.describe() for place in places)
        prompt = Prompt(
            rules=prompts.rules(prompts.PLACING),
            data=(
                prompts.untrusted("places", outline),
                *_describe_task(task),
            ),
            version=prompts.PLACING,
        )
        names = [place.name for place in places]
        form = _make_place_form(names) if names else PlaceForm
        result = ask_in_form(
            self.model,
            prompt,
            form,
            read=lambda document: _read_places(document, names),
            count=self.count,
        )
        self.count(result.reply.usage)
        if result.answer is None:
            raise _Unusable(f"the coder's answer was not in its form: {result.problem}")
        return result.answer

    def _rewrite(self, task: Task, place: Place, text: str, *, is_only: bool = True) -> str:
        """Have a piece rewritten; one of several may turn out to be right as it is."""

        def read(answer: str) -> str:
            try:
                return place.write_piece(text, take_code(answer))
            except Unchanged:
                if is_only:
                    raise
                return text

        piece = place.read_piece(text)
        remarks, names = describe_context(place, text, task.instructions)
        data = [
            *prompts.list_optional("what the file says about it", remarks[:_LONGEST_REMARKS]),
            *prompts.list_optional("names that it may use", names[:_LONGEST_NAMES]),
            *_describe_task(task),
            *prompts.list_optional(
                "the file as it is" if place.what == NEW_CODE else f"the piece {place.name}", piece
            ),
            _order_for(place),
        ]
        prompt = Prompt(
            rules=prompts.rules(prompts.REWRITING), data=tuple(data), version=prompts.REWRITING
        )
        return self._ask_until(prompt, read, what=place.name)

    def _ask_for_text(
        self, task: Task, version: str, apply: Callable[[str], Mapping[str, str]]
    ) -> tuple[Files, str]:
        def read(text: str) -> Files:
            files = apply(text)
            changed = {path: new for path, new in files.items() if new != task.files.get(path)}
            if not changed:
                raise _Unusable("the answer changes nothing: it holds no edit that can be read")
            for path, new in changed.items():
                refuse_bad_syntax(path, new)
            return cast("Files", changed)

        return self._ask_until(self._build_prompt(task, version), read, what="the edit"), version

    def _ask_until(self, prompt: Prompt, read: Callable[[str], Any], *, what: str) -> Any:
        """Ask in plain text until what was answered can be used, a few times at most."""
        question, why, answers = prompt, "", list[str]()
        for _ in range(MOST_TRIES):
            reply = self.model.ask(question, form=PlainText)
            self.count(reply.usage)
            try:
                return read(reply.text)
            except AstraError as error:
                why = f"{error.detail}; {error.next_step}"
            except _Unusable as error:
                why = str(error)
            if reply.text in answers:
                break  # it says the same again, whatever it is told
            answers.append(reply.text)
            question = add_objection(prompt, reply, why)
        raise _Unusable(f"no usable answer for {what}: {one_line(why, 300)}")

    def _build_prompt(self, task: Task, version: str) -> Prompt:
        files: dict[str, str] = {}
        for path, text in _list_likely_first(task):
            room = _MOST_CHARACTERS if files else _LARGEST_FILE
            if sum(map(len, files.values())) + len(text) <= room:
                files[path] = text
        allowed = [*task.files, *task.new_files]
        return Prompt(
            rules=prompts.rules(version),
            data=(
                *(prompts.untrusted(f"file {path}", text) for path, text in files.items()),
                prompts.untrusted("paths you may change", "\n".join(allowed)),
                *_describe_task(task),
            ),
            version=version,
        )


def take_code(text: str) -> str:
    """Take the code out of an answer: the longest fence, or all of it where there is none."""
    fences = find_fences(text)
    return max(fences, key=len) if fences else text.strip()


def _list_likely_first(task: Task) -> Iterator[tuple[str, str]]:
    """Give each file with its text, those that the instructions seem to speak of first."""
    places = list_places(task.files, (), task.instructions)
    likely = dict.fromkeys(place.path for place in places)
    yield from ((path, task.files[path]) for path in likely)
    yield from ((path, text) for path, text in task.files.items() if path not in likely)
    yield from task.others.items()


def _describe_task(task: Task) -> list[str]:
    return [
        *prompts.list_optional(prompts.DIGEST, task.digest),
        *prompts.list_optional("notes", task.notes),
        prompts.untrusted("instructions", task.instructions),
    ]


def _order_for(place: Place) -> str:
    if place.symbol is not None:
        return f"Write {place.symbol.short_name} anew, whole, in one code fence."
    if place.what == NEW_CODE:
        return "Write only the new code that goes to the end of the file, in one code fence."
    return f"Write the file {place.path} anew, whole, in one code fence."


def _by_position(place: Place) -> tuple[str, int]:
    """Sort so that what stands below is rewritten first: the lines above it stay where they are."""
    return place.path, -place.symbol.first if place.symbol else -1_000_000


def _make_place_form(names: Sequence[str]) -> type[PlaceForm]:
    choice = Literal[tuple(names)]  # type: ignore[valid-type]
    fields: dict[str, Any] = {
        "places": (list[choice], Field(default_factory=list, max_length=MOST_PLACES))
    }
    return create_model("Places", __base__=PlaceForm, **fields)


def _read_places(document: Any, names: Sequence[str]) -> Any:
    """Bring an answer nearer to the form: a single place, or one without its path."""
    inner = unwrap(document, ("places", "place", "note", "files", "deleted"))
    if not isinstance(inner, dict):
        return inner
    table = dict(cast("dict[str, Any]", inner))
    if isinstance(place := table.pop("place", None), str):
        table.setdefault("places", [place])
    if isinstance(places := table.get("places"), list):
        items = cast("list[Any]", places)
        table["places"] = [_match_place(item, names) for item in items][:MOST_PLACES]
    return table


def _match_place(item: Any, names: Sequence[str]) -> Any:
    if not isinstance(item, str) or item in names:
        return item
    ends = [name for name in names if name.endswith((f"::{item}", f".{item}"))]
    return ends[0] if len(ends) == 1 else item


def _files_from(answer: CodeForm | PlaceForm) -> Files:
    files: Files = {file.path: file.content for file in answer.files or ()}
    return files | dict.fromkeys(answer.deleted)


def _describe_nothing(note: str) -> str:
    return f"the coder changed nothing: {one_line(note, 300) or 'it gave no files'}"
