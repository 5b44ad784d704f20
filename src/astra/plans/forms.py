"""The forms that models fill in. What they write is checked by the server all the same."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Form(BaseModel):
    model_config = ConfigDict(extra="ignore")


class PlainText(Form):
    """An answer in plain text, read where it is needed: code in a fence, for instance."""


class FileForm(Form):
    path: str
    content: str


class CodeForm(Form):
    """Files as they should be; what stays as it is is left out."""

    files: list[FileForm] = []
    deleted: list[str] = []
    note: str = Field(default="", description="why nothing was changed, or what to look at")


class SubtaskForm(Form):
    id: str = Field(description="a short name: lower-case letters, digits and _")
    task: str = Field(description="a kind of task, or the name of a known task")
    tool: str = Field(default="", description="which tool a RUN_TOOL calls; empty otherwise")
    arguments: dict[str, Any] = {}
    after: list[str] = Field(default=[], description="ids of subtasks that have to end first")
    on_failure: str = "abort"
    attempts: int = 1


class DecompositionForm(Form):
    """How a goal is decomposed into subtasks."""

    subtasks: list[SubtaskForm] = []
    note: str = Field(default="", description="why it cannot be decomposed, where it cannot")


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
