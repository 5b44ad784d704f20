"""Which skills a plan may name: tools of the registry, and named groups of them.

A plan may not hand itself more than it was given: it cannot draft, approve, start or schedule
anything, neither by a tool of this server nor by a skill with the name of an agent. A plan with the
skill `coder` may hand instructions to the coder, and may propose changes to the code itself.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Protocol

from astra.trusted.kernel.errors import Refused

CODER = "coder"
GROUPS: Mapping[str, tuple[str, ...]] = {
    CODER: ("schedule_code_modification",),
    "source": ("list_source_files", "read_source_code", "search_source"),
    "files": ("list_files", "read_file", "write_file"),
    "sandbox": ("run_in_sandbox",),
    "web": ("fetch_url",),
}
_NEVER = (
    "agent_*",
    "agent.*",
    "astra.plans.*",
    "astra.schedule.create",
    "astra.schedule.modify",
    "astra.schedule.resume",
    "astra.goals.create",
    "astra.approvals.approve",
    "astra.flags.*",
    "execute_goal",
    "deploy_agent_code",
)


class SkillRefused(Refused):
    code = "skill_refused"


@dataclass(frozen=True, kw_only=True)
class SkillFacts:
    """What the server knows about a tool."""

    name: str
    tier: int
    operator_only: bool
    repeatable: bool


class SkillBook(Protocol):
    def find(self, name: str) -> SkillFacts | None:
        """Describe a tool by any of its names, or say that there is none."""
        ...

    def names(self) -> list[str]: ...


def check_skills(names: Iterable[str], book: SkillBook) -> tuple[str, ...]:
    """Give each skill by its one name, or refuse the first that a plan cannot have."""
    return tuple(dict.fromkeys(_check_skill(name, book) for name in names))


def tools_of(skills: Iterable[str]) -> frozenset[str]:
    """Open the groups: which tools these skills let a plan call."""
    return frozenset(tool for skill in skills for tool in GROUPS.get(skill, (skill,)))


def list_offered_skills(book: SkillBook) -> list[str]:
    """Name the skills that a plan can have; offering others would only invite refusals."""
    skills = (book.find(name) for name in book.names())
    allowed = [skill.name for skill in skills if skill and not _decides_more(skill)]
    return [*GROUPS, *dict.fromkeys(allowed)]


def _check_skill(name: str, book: SkillBook) -> str:
    if _starts_more(name):
        raise _make_recursion_error(name)
    if name in GROUPS:
        return name
    facts = book.find(name)
    if facts is None:
        raise SkillRefused(
            f"there is no skill {name[:100]!r}",
            code="unknown_skill",
            next_step=f"one of: {', '.join(list_offered_skills(book))}",
        )
    if _decides_more(facts):
        raise _make_recursion_error(name)
    return facts.name


def _decides_more(facts: SkillFacts) -> bool:
    return _starts_more(facts.name) or facts.operator_only


def _starts_more(name: str) -> bool:
    return any(
        fnmatchcase(name.lower(), spelled)
        for pattern in _NEVER
        for spelled in (pattern, pattern.replace(".", "_"))
    )


def _make_recursion_error(name: str) -> SkillRefused:
    return SkillRefused(
        f"a plan cannot have the skill {name[:100]!r}: it would start or decide more than itself",
        code="self_recursion",
        next_step="leave it out; the operator decides on plans and schedules",
    )
