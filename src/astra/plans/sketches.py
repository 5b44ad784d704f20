"""A plan from a sketch: a model answers a few small questions, the server fills in the rest.

The model says what is achieved, in which steps, with which skill and which files; the server makes
the checkpoints, their budgets and the manifest of it, as narrow as the answer. Skills and files are
offered as closed lists. What comes out is checked like any plan, and nothing runs before a person
signed for it.
"""

import difflib
import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import PurePosixPath
from typing import Any, Literal, Self, cast

from pydantic import ConfigDict, Field, create_model, model_validator
from pydantic.json_schema import SkipJsonSchema

from astra.plans.answers import unwrap
from astra.plans.forms import Form
from astra.plans.schema import LONGEST_TEXT, LONGEST_TITLE
from astra.plans.skills import CODER, GROUPS

MOST_PATHS = 60
CODE_BUDGET, OTHER_BUDGET = 12, 30
_MOST_STEPS = 10
_WORD = re.compile(r"[a-z0-9]+")
_FIELDS = ("goal", "steps", "questions", "plan", "checkpoints")


class StepSketch(Form):
    title: str
    description: str
    skill: str = ""


class SketchForm(Form):
    """What a model is asked for; a whole plan (`plan`) is taken too, and checked the same way."""

    model_config = ConfigDict(
        extra="ignore", json_schema_extra={"required": ["goal", "steps", "files", "questions"]}
    )

    goal: str = ""
    steps: list[StepSketch] = Field(default_factory=list[StepSketch])
    files: list[str] = Field(default_factory=list[str])
    other_paths: list[str] = Field(default_factory=list[str])
    hosts: list[str] = Field(default_factory=list[str])
    questions: list[str] = Field(default_factory=list[str])
    plan: SkipJsonSchema[Any] = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not (self.plan or self.questions or (self.goal.strip() and self.steps)):
            raise ValueError("give a goal and steps, or questions")
        return self


def make_form(skills: Sequence[str], paths: Sequence[str]) -> type[SketchForm]:
    """Make the form with these skills and files as the only ones to choose from."""
    step_fields: dict[str, Any] = {"skill": (Literal[tuple(skills)], ...)} if skills else {}
    step: Any = create_model("Step", __base__=StepSketch, **step_fields)
    fields: dict[str, Any] = {"steps": (list[step], [])}
    if paths:
        fields["files"] = (list[Literal[tuple(paths)]], [])
    return create_model("Draft", __base__=SketchForm, **fields)


def read_sketch(document: Any, paths: Collection[str], skills: Collection[str]) -> Any:
    """Bring an answer nearer to the form: near misses of paths and skills are what they meant."""
    inner = unwrap(document, _FIELDS)
    if not isinstance(inner, dict):
        return inner
    table = cast("dict[str, Any]", inner)
    if "checkpoints" in table:
        return {"plan": table}
    sketch = {**table, "files": _match_paths(table.get("files"), paths)}
    sketch["other_paths"] = [*_list_texts(table.get("other_paths")), *_list_new(table, paths)]
    if isinstance(steps := table.get("steps"), list):
        sketch["steps"] = [_match_skill(step, skills) for step in cast("list[Any]", steps)]
    return sketch


def complete(sketch: SketchForm) -> dict[str, Any]:
    """Make the plan that a sketch amounts to; skills, budgets and manifest follow from it."""
    steps = sketch.steps[:_MOST_STEPS]
    skills = list(dict.fromkeys(step.skill for step in steps if step.skill))
    paths = list(dict.fromkeys((*sketch.files, *sketch.other_paths)))
    writes = paths if {CODER, "files", *GROUPS["files"]} & set(skills) else []
    return {
        "goals": [sketch.goal[:LONGEST_TEXT]],
        "checkpoints": [_make_checkpoint(step, sketch.goal) for step in steps],
        "manifest": {
            "skills": skills,
            "read_paths": paths,
            "write_paths": writes,
            "network_domains": sketch.hosts if "web" in skills or "fetch_url" in skills else [],
            "destructive_ops": [],
        },
        "estimated_duration_minutes": 10 * max(1, len(steps)),
        "assumptions": [],
    }


def add_missing_skills(document: Any, offered: Collection[str]) -> Any:
    """Give a plan's manifest the skills that its checkpoints need; leave out what does not exist.

    The person who signs reads the manifest as it is then. Nothing that no plan may have is added:
    only skills that are offered to plans count.
    """
    if not isinstance(document, dict):
        return document
    plan = cast("dict[str, Any]", document)
    raw_checkpoints, raw_manifest = plan.get("checkpoints"), plan.get("manifest", {})
    if not isinstance(raw_checkpoints, list) or not isinstance(raw_manifest, dict):
        return plan
    manifest = cast("dict[str, Any]", raw_manifest)
    checkpoints = [_keep_known(item, offered) for item in cast("list[Any]", raw_checkpoints)]
    needed = [
        skill
        for item in checkpoints
        if isinstance(item, dict)
        for skill in _list_texts(cast("dict[str, Any]", item).get("skills_needed"))
    ]
    named_skills = [skill for skill in _list_texts(manifest.get("skills")) if skill in offered]
    missing_skills = [skill for skill in needed if skill not in _open_groups(named_skills)]
    skills = list(dict.fromkeys((*named_skills, *missing_skills)))
    return {**plan, "checkpoints": checkpoints, "manifest": {**manifest, "skills": skills}}


def rank_paths(paths: Iterable[str], description: str, *, most: int = MOST_PATHS) -> list[str]:
    """Give the files that a description is most likely about, in their own order.

    >>> rank_paths(["a/api.py", "docs/x.md", "b.py"], "the greeting in a/api.py", most=1)
    ['a/api.py']
    """
    every_path = list(paths)
    if len(every_path) <= most:
        return every_path
    description_words = set(_WORD.findall(description.lower()))
    scores = {
        path: len(description_words & set(_WORD.findall(path.lower()))) + 5 * (path in description)
        for path in every_path
    }
    best = set(sorted(every_path, key=lambda path: (-scores[path], path.count("/"), path))[:most])
    return [path for path in every_path if path in best]


def list_short(skills: Sequence[str]) -> list[str]:
    """Give the skills to choose from: a tool that is part of a group is offered as the group."""
    grouped = {tool for tools in GROUPS.values() for tool in tools}
    return [skill for skill in skills if skill in GROUPS or skill not in grouped]


def nearest(name: str, names: Collection[str]) -> str | None:
    """Find the one name that was probably meant."""
    if name in names:
        return name
    same_end = [item for item in names if PurePosixPath(item).name == PurePosixPath(name).name]
    if len(same_end) == 1:
        return same_end[0]
    close = difflib.get_close_matches(name, list(names), n=1, cutoff=0.85)
    return close[0] if close else None


def _make_checkpoint(step: StepSketch, goal: str) -> dict[str, Any]:
    return {
        "title": step.title[:LONGEST_TITLE],
        "description": step.description[:LONGEST_TEXT],
        "skills_needed": [step.skill] if step.skill else [],
        "expected_output": goal[:LONGEST_TEXT],
        "step_budget": CODE_BUDGET if step.skill == CODER else OTHER_BUDGET,
    }


def _match_paths(value: Any, paths: Collection[str]) -> list[str]:
    if not paths:
        return _list_texts(value)
    matches = (nearest(text.removeprefix("./"), paths) for text in _list_texts(value))
    return list(dict.fromkeys(match for match in matches if match))


def _list_new(table: dict[str, Any], paths: Collection[str]) -> list[str]:
    """Give the files that no file of the target was meant by: they are new."""
    if not paths:
        return []
    return [
        text
        for text in _list_texts(table.get("files"))
        if nearest(text.removeprefix("./"), paths) is None
    ]


def _match_skill(step: Any, skills: Collection[str]) -> Any:
    if not isinstance(step, dict):
        return step
    table = cast("dict[str, Any]", step)
    name = table.get("skill")
    match = nearest(name, skills) if isinstance(name, str) else None
    return {**table, "skill": match} if match else table


def _keep_known(checkpoint: Any, offered: Collection[str]) -> Any:
    if not isinstance(checkpoint, dict):
        return checkpoint
    table = cast("dict[str, Any]", checkpoint)
    if not isinstance(table.get("skills_needed"), list):
        return table
    known_skills = [skill for skill in _list_texts(table["skills_needed"]) if skill in offered]
    return {**table, "skills_needed": known_skills}


def _open_groups(skills: Iterable[str]) -> set[str]:
    return {name for skill in skills for name in (skill, *GROUPS.get(skill, ()))}


def _list_texts(value: Any) -> list[str]:
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return [item for item in items if isinstance(item, str) and item.strip()]
