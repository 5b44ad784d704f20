"""Changing code: propose it, see what became of it. A person decides; no tool approves."""

import base64
import binascii
from typing import Any, Literal

from pydantic import Field

from astra.changes.edits import Delete, Edit, Patch, Replace, WholeFile
from astra.changes.proposing import Proposal
from astra.changes.service import summarize_change
from astra.tools import pages
from astra.tools.services import Services
from astra.tools.source import PERSONA
from astra.trusted.calls.registry import Answer, AnyTool, Arguments, Hints, Tool
from astra.trusted.changes.model import State
from astra.trusted.kernel.errors import BadInput
from astra.trusted.kernel.paging import LARGEST_PAGE
from astra.trusted.policy.call import Tier
from astra.trusted.policy.paths import parse_relative

WRITE = (*PERSONA, "ASTRA_CODE_WRITE_ENABLED")
_LONGEST = 8_000_000
_USUAL_DIFF, _LONGEST_DIFF = 12_000, 200_000


class EditArguments(Arguments):
    """One file: its whole content, a search to replace, or its deletion."""

    path: str = Field(max_length=4096, description="from the top of the target")
    content: str | None = Field(default=None, max_length=_LONGEST, description="the whole file")
    content_base64: str | None = Field(
        default=None, max_length=_LONGEST, description="the whole file, where it is not UTF-8"
    )
    executable: bool | None = Field(default=None, description="left out: as it is")
    search: str | None = Field(
        default=None, max_length=_LONGEST, description="text that is in the file exactly once"
    )
    replace: str | None = Field(default=None, max_length=_LONGEST, description="what it becomes")
    every: bool = Field(default=False, description="replace every place it is in")
    delete: Literal[True] | None = Field(default=None, description="delete the file")


class ProposeArguments(Arguments):
    reason: str = Field(min_length=1, max_length=4000, description="why the code should change")
    edits: list[EditArguments] = Field(
        default_factory=list[EditArguments], max_length=1000, description="one for each file"
    )
    patch: str | None = Field(default=None, max_length=_LONGEST, description="a unified diff")
    patch_base64: str | None = Field(
        default=None, max_length=_LONGEST, description="a unified diff that is not UTF-8"
    )
    from_branch: str = Field(
        default="", max_length=200, description="a branch of your clone, instead of edits"
    )
    goal: str = Field(default="", max_length=100, description="the goal it serves (goal_…)")
    research: str = Field(
        default="",
        max_length=100,
        description="the research it comes from: res_…",
    )
    supersedes: str = Field(
        default="", max_length=100, description="the change this is a revision of (chg_…)"
    )
    reverts: str = Field(
        default="", max_length=100, description="a merged change to take back instead"
    )


class Proposed(Answer):
    id: str
    state: str
    branch: str
    commit: str
    task_id: str
    next: str


class ListArguments(Arguments):
    state: State | None = Field(default=None, description="only in this state")
    limit: int | None = pages.limit_field(LARGEST_PAGE)
    cursor: str | None = pages.Cursor


class Brief(Answer):
    id: str
    state: str
    branch: str
    commit: str
    reason: str
    created_at: str
    proposed_by: str
    files: int
    tests: str | None
    approval_id: str | None


class Listed(Answer):
    items: list[Brief]
    next: str | None = None


class GetArguments(Arguments):
    id: str = Field(max_length=100, description="chg_…")
    diff: bool = Field(default=False, description="with the diff")
    diff_from: int = Field(default=0, ge=0, description="`diff_next` of the answer before")
    full: bool = pages.Full


class Shown(Answer):
    change: dict[str, Any]
    diff: str | None = None
    diff_cut: bool = False
    diff_next: int | None = None
    shortened: bool = False


class RunArguments(Arguments):
    id: str = Field(max_length=100, description="chg_…")


class RunAnswer(Answer):
    id: str
    state: str
    approval_id: str | None
    link: str | None
    how: str


def _propose_change(arguments: ProposeArguments, services: Services) -> Proposed:
    proposal = Proposal(
        reason=arguments.reason,
        edits=parse_edits(arguments),
        from_branch=arguments.from_branch,
        goal=arguments.goal,
        research=arguments.research,
        supersedes=arguments.supersedes,
        reverts=arguments.reverts,
    )
    change = services.changes.proposals.propose(
        proposal, actor=services.actor, correlation=services.correlation
    )
    return Proposed.model_validate(services.changes.describe_change(change.id))


def _list_changes(arguments: ListArguments, services: Services) -> Listed:
    def query(limit: int) -> Listed:
        changes, cursor = services.changes.book.list_page(
            state=arguments.state, limit=limit, cursor=arguments.cursor
        )
        items = [Brief.model_validate(summarize_change(change)) for change in changes]
        return Listed(items=items, next=cursor)

    return pages.fit_page(query, arguments.limit)


def _get_change(arguments: GetArguments, services: Services) -> Shown:
    document = services.changes.describe_change(arguments.id)
    change = pages.shorten_document(document, full=arguments.full)
    view = Shown(change=change, shortened=change is not document)
    if arguments.diff:
        text = services.changes.diff(arguments.id).decode(errors="replace")
        end = arguments.diff_from + (_LONGEST_DIFF if arguments.full else _USUAL_DIFF)
        view.diff, view.diff_cut = text[arguments.diff_from : end], len(text) > end
        view.diff_next = end if view.diff_cut else None
    return view


def _explain_run(arguments: RunArguments, services: Services) -> RunAnswer:
    """Say how a person runs a change: it runs once they signed, and not before."""
    change = services.changes.book.get(arguments.id)
    approval_id = change.approval if change.state is State.AWAITING else None
    how = services.changes.describe_change(change.id)["next"]
    return RunAnswer(
        id=change.id,
        state=str(change.state),
        approval_id=approval_id,
        link=services.approval_link(approval_id) if approval_id else None,
        how=f"a person signs there, or with `astra changes approve {change.id}`"
        if approval_id
        else how,
    )


def parse_edits(arguments: ProposeArguments) -> list[Edit]:
    edits = [_parse_edit(edit, number) for number, edit in enumerate(arguments.edits)]
    if arguments.patch is not None:
        edits.append(Patch(text=arguments.patch.encode(errors="replace")))
    if arguments.patch_base64 is not None:
        edits.append(Patch(text=_decode_base64(arguments.patch_base64, "patch_base64")))
    return edits


def _parse_edit(edit: EditArguments, number: int) -> Edit:
    ways = ("content", "content_base64", "search", "delete")
    kinds = [name for name in ways if getattr(edit, name) is not None]
    if len(kinds) != 1 or (edit.replace is None) != (edit.search is None):
        raise BadInput(
            f"edits.{number}: give content, content_base64, search with replace, or delete",
            next_step="one of them, and only one, for each edit",
            field=f"edits.{number}",
        )
    if edit.delete:
        return Delete(path=edit.path)
    if edit.search is not None and edit.replace is not None:
        search, replace = edit.search.encode(), edit.replace.encode()
        return Replace(path=edit.path, search=search, replace=replace, every=edit.every)
    content = (edit.content or "").encode()
    if edit.content_base64 is not None:
        content = _decode_base64(edit.content_base64, f"edits.{number}.content_base64")
    return WholeFile(path=edit.path, content=content, executable=edit.executable)


def _decode_base64(text: str, field: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise BadInput(f"{field} is not base64", next_step="encode it", field=field) from None


def _find_edited_files(arguments: ProposeArguments, _services: Services) -> tuple[str, ...] | None:
    """Name the files of edits; what a diff, a branch or a revert touches is not looked up."""
    if not arguments.edits or arguments.patch is not None or arguments.patch_base64 is not None:
        return None
    if arguments.from_branch or arguments.supersedes or arguments.reverts:
        return None
    return tuple(parse_relative(edit.path).text for edit in arguments.edits)


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        name="schedule_code_modification",
        title="Propose a change to the code",
        description="Edits code: the way to change source, commit, open a change (a pull request)."
        " Give whole files, search and replace, a unified diff, or a branch of your clone. It is"
        " scanned, tested, and waits for a person's approval.",
        input=ProposeArguments,
        output=Proposed,
        tier=Tier.LOCAL_WRITE,
        flags=WRITE,
        slow=True,
        hints=Hints(idempotent=False),
        handler=_propose_change,
        files=_find_edited_files,
    ),
    Tool(
        name="astra.changes.list",
        title="List changes",
        description="Lists proposed changes, newest first, with their states.",
        input=ListArguments,
        output=Listed,
        tier=Tier.READ,
        flags=PERSONA,
        handler=_list_changes,
    ),
    Tool(
        name="astra.changes.get",
        title="Show a change",
        description="Shows a change: findings, test evidence, comments, what waits, the diff.",
        text_members=("diff",),
        input=GetArguments,
        output=Shown,
        tier=Tier.READ,
        flags=PERSONA,
        handler=_get_change,
    ),
    Tool(
        name="astra.changes.run",
        title="Run a change",
        description="Gives the link where a person approves a change, which runs it.",
        input=RunArguments,
        output=RunAnswer,
        tier=Tier.READ,
        operator_only=True,
        handler=_explain_run,
    ),
)
