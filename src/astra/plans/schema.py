"""What a plan looks like when it is written down, and how older writings are read.

A plan says what is to be achieved (`goals`), in which stages (`checkpoints`), and what the work may
touch (`manifest`). Its hash, over canonical JSON, is what the operator signs. A document of an
older version climbs `LADDER`, one rung a version; a newer one is refused with a word on why. Keys
that nobody knows are left out and named, never an error: the plan of tomorrow loads today.

>>> checkpoint_id("Read", "Read the notes")
'dfa5f018'
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from astra.plans.reading import Reader
from astra.trusted.kernel import canonical, masking
from astra.trusted.kernel.errors import BadInput
from astra.trusted.kernel.text import one_line

SCHEMA_VERSION = 1
STEP_BUDGET, LARGEST_STEP_BUDGET = 30, 200
MOST_CHECKPOINTS, MOST_TEXTS, MOST_GRANTS = 50, 50, 64
LONGEST_TITLE, LONGEST_TEXT, LONGEST_VALUE = 200, 4_000, 4_096
LONGEST_ESTIMATE = 7 * 24 * 60
GRANT_KINDS = ("network_domains", "read_paths", "write_paths", "skills")
MANIFEST_KINDS = (*GRANT_KINDS, "destructive_ops")


class BadPlan(BadInput):
    code = "bad_plan"


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    title: str
    description: str
    skills_needed: tuple[str, ...] = ()
    expected_output: str = ""
    step_budget: int = STEP_BUDGET

    @property
    def id(self) -> str:
        return checkpoint_id(self.title, self.description)

    def as_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "title": self.title,
            "description": self.description,
            "skills_needed": list(self.skills_needed),
            "expected_output": self.expected_output,
            "step_budget": self.step_budget,
        }


@dataclass(frozen=True, kw_only=True)
class Permissions:
    """The manifest as it is written in a plan: what it may reach, read, write and use."""

    network_domains: tuple[str, ...] = ()
    read_paths: tuple[str, ...] = ()
    write_paths: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    destructive_ops: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, list[str]]:
        return {kind: list(getattr(self, kind)) for kind in MANIFEST_KINDS}

    def list_values(self, kind: str) -> tuple[str, ...]:
        return getattr(self, kind)

    def plus(self, kind: str, value: str) -> "Permissions":
        values = dict.fromkeys((*self.list_values(kind), value))
        return replace(self, **{kind: tuple(values)})

    def without(self, gone: frozenset[tuple[str, str]]) -> "Permissions":
        remaining = {
            kind: tuple(value for value in self.list_values(kind) if (kind, value) not in gone)
            for kind in MANIFEST_KINDS
        }
        return Permissions(**remaining)


@dataclass(frozen=True, kw_only=True)
class Plan:
    goals: tuple[str, ...]
    checkpoints: tuple[Checkpoint, ...]
    manifest: Permissions = field(default_factory=Permissions)
    estimated_duration_minutes: int = 60
    assumptions: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {
            "schema_version": SCHEMA_VERSION,
            "goals": list(self.goals),
            "checkpoints": [checkpoint.as_dict() for checkpoint in self.checkpoints],
            "manifest": self.manifest.as_dict(),
            "estimated_duration_minutes": self.estimated_duration_minutes,
            "assumptions": list(self.assumptions),
        }

    def hash(self) -> str:
        return hashlib.sha256(canonical.encode(self.as_dict())).hexdigest()


def checkpoint_id(title: str, description: str) -> str:
    return hashlib.sha256((title + description).encode()).hexdigest()[:8]


def load(document: Any) -> tuple[Plan, tuple[str, ...]]:
    """Read a plan of any known version; gives it with the keys that were left out.

    Secret values are masked before anything is hashed: a plan is kept, and signed, as it is shown.
    """
    reader = Reader(BadPlan)
    table = migrate(reader.table(masking.mask_value(document), "the plan"))
    reader.note_unknown_keys(table, _PLAN_KEYS, "")
    checkpoints = reader.tables(table.get("checkpoints"), "checkpoints", MOST_CHECKPOINTS)
    plan = Plan(
        goals=reader.texts(table.get("goals"), "goals", MOST_TEXTS, LONGEST_TEXT),
        checkpoints=tuple(
            _read_checkpoint(reader, checkpoint, f"checkpoints.{place}")
            for place, checkpoint in enumerate(checkpoints)
        ),
        manifest=_read_permissions(reader, table.get("manifest", {})),
        estimated_duration_minutes=reader.read_number(
            table.get("estimated_duration_minutes", 60),
            "estimated_duration_minutes",
            LONGEST_ESTIMATE,
        ),
        assumptions=reader.texts(
            table.get("assumptions", []), "assumptions", MOST_TEXTS, LONGEST_TEXT
        ),
    )
    if not plan.goals or not plan.checkpoints:
        raise BadPlan("a plan has goals and checkpoints", next_step="say what is to be done")
    return plan, tuple(reader.left_out)


def migrate(document: Mapping[str, Any]) -> dict[str, Any]:
    """Bring a document up to this version, rung by rung."""
    version = document.get("schema_version", 0)
    if not isinstance(version, int) or isinstance(version, bool) or version < 0:
        raise BadPlan(f"schema_version is {version!r}", next_step=f"write {SCHEMA_VERSION}")
    if version > SCHEMA_VERSION:
        raise BadPlan(
            f"this plan has schema version {version}; this Astra reads up to {SCHEMA_VERSION}",
            code="plan_too_new",
            next_step="update Astra, or write the plan in the older version",
        )
    table = dict(document)
    while version < SCHEMA_VERSION:
        table = LADDER[version](table)
        version += 1
    return {**table, "schema_version": SCHEMA_VERSION}


def _from_unnumbered(table: dict[str, Any]) -> dict[str, Any]:
    """Rename what was called otherwise before plans had a version."""
    names = {"permission_manifest": "manifest", "estimated_minutes": "estimated_duration_minutes"}
    renamed = dict(table)
    for old, new in names.items():
        if old in renamed:
            renamed.setdefault(new, renamed.pop(old))
    if isinstance(goal := renamed.pop("goal", None), str):
        renamed.setdefault("goals", [goal])
    return renamed


LADDER: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {0: _from_unnumbered}

_PLAN_KEYS = frozenset(
    {
        "schema_version",
        "goals",
        "checkpoints",
        "manifest",
        "estimated_duration_minutes",
        "assumptions",
    }
)
_CHECKPOINT_KEYS = frozenset(
    {"id", "title", "description", "skills_needed", "expected_output", "step_budget"}
)


def _read_checkpoint(reader: Reader, table: Mapping[str, Any], where: str) -> Checkpoint:
    reader.note_unknown_keys(table, _CHECKPOINT_KEYS, f"{where}.")
    checkpoint = Checkpoint(
        title=reader.text(table.get("title"), f"{where}.title", LONGEST_TITLE),
        description=reader.text(table.get("description"), f"{where}.description", LONGEST_TEXT),
        skills_needed=reader.texts(
            table.get("skills_needed", []), f"{where}.skills_needed", MOST_GRANTS, LONGEST_TITLE
        ),
        expected_output=reader.text(
            table.get("expected_output", ""), f"{where}.expected_output", LONGEST_TEXT, empty=True
        ),
        step_budget=reader.read_number(
            table.get("step_budget", STEP_BUDGET), f"{where}.step_budget", LARGEST_STEP_BUDGET
        ),
    )
    stated_id = table.get("id", checkpoint.id)
    if stated_id != checkpoint.id:
        raise BadPlan(
            f"{where}.id is {one_line(str(stated_id), 40)!r};"
            f" its title and description give {checkpoint.id}",
            next_step="leave the id out: it is worked out",
        )
    return checkpoint


def _read_permissions(reader: Reader, document: Any) -> Permissions:
    table = reader.table(document, "manifest")
    reader.note_unknown_keys(table, frozenset(MANIFEST_KINDS), "manifest.")
    grants = {
        kind: reader.texts(table.get(kind, []), f"manifest.{kind}", MOST_GRANTS, LONGEST_VALUE)
        for kind in MANIFEST_KINDS
    }
    return Permissions(**cast("dict[str, Any]", grants))
