"""A plan written down: what it must have, what is left out, and how older writings are read."""

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra.plans import edits, schema
from astra.plans.schema import BadPlan
from astra.trusted.kernel.errors import AstraError


def written(**changes: Any) -> dict[str, Any]:
    checkpoint = {"title": "Read", "description": "Read the notes", "skills_needed": ["read_file"]}
    return {
        "schema_version": 1,
        "goals": ["Tidy up"],
        "checkpoints": [checkpoint],
        "manifest": {"skills": ["read_file"]},
        "estimated_duration_minutes": 20,
        "assumptions": ["there are notes"],
        **changes,
    }


def test_a_plan_survives_being_written_and_read() -> None:
    plan, ignored = schema.load(written())
    assert schema.load(plan.as_dict()) == (plan, ())
    assert ignored == ()


def test_a_checkpoints_id_is_the_hash_of_its_title_and_description() -> None:
    plan, _ = schema.load(written())
    assert plan.checkpoints[0].id == hashlib.sha256(b"ReadRead the notes").hexdigest()[:8]


def test_an_id_that_does_not_fit_its_words_is_refused() -> None:
    checkpoint = {"id": "00000000", "title": "Read", "description": "Read the notes"}
    with pytest.raises(BadPlan, match="give dfa5f018"):
        schema.load(written(checkpoints=[checkpoint]))


def test_a_step_budget_is_thirty_unless_said_otherwise() -> None:
    plan, _ = schema.load(written())
    assert plan.checkpoints[0].step_budget == 30


def test_keys_nobody_knows_are_left_out_and_named() -> None:
    document = written(colour="blue")
    document["checkpoints"][0]["mood"] = "calm"
    document["manifest"]["cookies"] = ["all"]
    plan, ignored = schema.load(document)
    assert ignored == ("colour", "checkpoints.0.mood", "manifest.cookies")
    assert "colour" not in plan.as_dict()


def test_a_plan_from_before_versions_is_migrated() -> None:
    old = written(goal="Tidy up", permission_manifest={"skills": ["a"]}, estimated_minutes=7)
    for key in ("schema_version", "goals", "manifest", "estimated_duration_minutes"):
        del old[key]
    plan, ignored = schema.load(old)
    assert (plan.goals, plan.manifest.skills, plan.estimated_duration_minutes) == (
        ("Tidy up",),
        ("a",),
        7,
    )
    assert ignored == ()


def test_every_older_version_has_a_rung() -> None:
    assert sorted(schema.LADDER) == list(range(schema.SCHEMA_VERSION))


def test_a_newer_plan_is_refused_and_says_so() -> None:
    with pytest.raises(BadPlan, match="reads up to 1") as refused:
        schema.load(written(schema_version=2))
    assert refused.value.reason == "plan_too_new"


@pytest.mark.parametrize(
    "broken",
    [
        None,
        [],
        "plan",
        {},
        written(goals=[]),
        written(goals="all"),
        written(checkpoints=[]),
        written(checkpoints=[7]),
        written(checkpoints=[{"title": "only"}]),
        written(manifest=[]),
        written(manifest={"skills": "all"}),
        written(estimated_duration_minutes=0),
        written(estimated_duration_minutes=True),
        written(schema_version="1"),
        written(schema_version=-1),
        written(checkpoints=[{"title": "a", "description": "b", "step_budget": 10_000}]),
    ],
)
def test_what_is_no_plan_is_an_error_with_a_next_step(broken: Any) -> None:
    with pytest.raises(BadPlan) as refused:
        schema.load(broken)
    assert refused.value.next_step


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner),
    max_leaves=20,
)


@given(
    st.fixed_dictionaries(
        {}, optional=dict.fromkeys(("goals", "checkpoints", "manifest", "goal"), json_values)
    )
)
def test_no_document_is_a_stack_trace(document: dict[str, Any]) -> None:
    try:
        plan, _ = schema.load(document)
    except AstraError:
        return
    assert plan.hash()


def test_the_hash_follows_every_word() -> None:
    plan, _ = schema.load(written())
    other, _ = schema.load(written(assumptions=["there are none"]))
    assert plan.hash() != other.hash()


def test_edits_are_applied_in_order() -> None:
    plan, _ = schema.load(written())
    edited = edits.apply(
        plan.as_dict(),
        [
            {"op": "set", "path": "checkpoints.0.title", "value": "Look"},
            {"op": "add", "path": "manifest.read_paths", "value": "docs"},
            {"op": "remove", "path": "assumptions", "value": "there are notes"},
        ],
    )
    revised, _ = schema.load(edited)
    assert revised.checkpoints[0].title == "Look"
    assert revised.checkpoints[0].id != plan.checkpoints[0].id
    assert revised.manifest.read_paths == ("docs",)
    assert revised.assumptions == ()


@pytest.mark.parametrize(
    "edit",
    [
        {"op": "melt", "path": "goals"},
        {"op": "set", "path": "nowhere", "value": 1},
        {"op": "set", "path": "checkpoints.9.title", "value": "x"},
        {"op": "add", "path": "estimated_duration_minutes", "value": "x"},
        {"op": "remove", "path": "manifest.skills", "value": "not there"},
        {"op": "set", "path": "__class__", "value": 1},
        {"op": "set"},
        7,
    ],
)
def test_an_edit_that_names_nothing_is_refused(edit: Any) -> None:
    plan, _ = schema.load(written())
    with pytest.raises(BadPlan):
        edits.apply(plan.as_dict(), [edit])
