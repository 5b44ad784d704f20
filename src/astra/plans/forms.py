"""The forms that models fill in. What they write is checked by the server all the same."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from astra.plans.schema import STEP_BUDGET


class Form(BaseModel):
    model_config = ConfigDict(extra="ignore")


class CheckpointForm(Form):
    title: str
    description: str
    skills_needed: list[str] = []
    expected_output: str = ""
    step_budget: int = STEP_BUDGET


class ManifestForm(Form):
    network_domains: list[str] = []
    read_paths: list[str] = []
    write_paths: list[str] = []
    skills: list[str] = []
    destructive_ops: list[str] = []


class PlanForm(Form):
    goals: list[str]
    checkpoints: list[CheckpointForm]
    manifest: ManifestForm = Field(default_factory=ManifestForm)
    estimated_duration_minutes: int = 60
    assumptions: list[str] = []


class DraftForm(Form):
    """Either questions or a plan."""

    questions: list[str] = Field(default=[], description="what you need to know first, or nothing")
    plan: PlanForm | None = None


class FileForm(Form):
    path: str
    content: str


class CodeForm(Form):
    """Files as they should be; what stays as it is is left out."""

    files: list[FileForm] = []
    deleted: list[str] = []
    note: str = Field(default="", description="why nothing was changed, or what to look at")


class ActionForm(Form):
    """What to do next in a checkpoint."""

    kind: Literal["tool", "code", "message", "done"]
    tool: str = Field(default="", description="for tool: its name")
    arguments: dict[str, Any] = Field(default={}, description="for tool: its arguments")
    destructive: bool = Field(
        default=False, description="whether it deletes or overwrites for good"
    )
    text: str = Field(
        default="", description="for message: what to say; for code: the instructions"
    )
    question: bool = Field(default=False, description="for message: whether you need an answer")
    output: str = Field(default="", description="for done: what came of this checkpoint")
    why: str = Field(default="", description="one sentence")
