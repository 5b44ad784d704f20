from typing import Any

import pytest

from astra.testing import GateInMemory

STORY = "cor_00000000000000aa"


@pytest.fixture
def gate() -> GateInMemory:
    return GateInMemory()


@pytest.fixture
def document() -> dict[str, Any]:
    return {
        "schema_version": 1,
        "goals": ["Tidy the notes"],
        "checkpoints": [
            {"title": "Read", "description": "Read the notes", "skills_needed": ["read_file"]},
            {"title": "Write", "description": "Write a summary", "skills_needed": ["write_file"]},
        ],
        "manifest": {
            "skills": ["files"],
            "read_paths": ["docs"],
            "write_paths": ["/data/persona_space/notes"],
            "network_domains": ["example.com"],
        },
        "estimated_duration_minutes": 20,
        "assumptions": [],
    }
