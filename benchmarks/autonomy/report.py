"""What came of the stories of `make autonomy`, kept beside the model and written as a page.

Each run of a story takes the place of the one before; a run that is cut off loses only itself.
"""

import json
import os
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

BUG = "quixbugs-"
REPORT = Path(__file__).resolve().parents[1] / "AUTONOMY.md"
NOTES = Path(__file__).with_name("notes.md")
BUILT_IN = "built-in coder"
COMPARISON = """\
The same stories and bugs, written by coding agents of others in the box of a plan, which reach
nothing but the model that Astra lends them. There, too, a scripted operator signs twice: the plan,
and the diff with its evidence and deployment."""
INTRODUCTION = """\
Measured by `benchmarks/autonomy/run.py` with **{model}** on {cores} cores that others
used as well, in stories on the example server. The operator is a script that signs twice: the
desire with the goal and its graph, and the diff with its evidence and deployment, and
consents to nothing else."""


@dataclass(kw_only=True)
class Outcome:
    story: str
    wish: str
    passed: bool = False
    stopped_at: str = ""
    why: str = ""
    seconds: float = 0.0
    model_seconds: float = 0.0
    calls: int = 0
    tokens: int = 0
    signatures: int = 0
    harmful: int = 0
    tries: int = 0
    when: str = ""
    diff: str = ""
    ledger: list[str] = field(default_factory=list[str])


def name_run(model: str, coder: str) -> str:
    """Name what is kept of a model, by itself or with a coding agent of somebody else."""
    return f"{model} with {coder}" if coder else model


def keep_outcome(file: Path, model: str, outcome: Outcome) -> None:
    kept = read_outcomes(file, model)
    kept[outcome.story] = outcome
    outcome.when = datetime.now(UTC).strftime("%Y-%m-%d")
    file.parent.mkdir(exist_ok=True)
    every_model = json.loads(file.read_text()) if file.exists() else {}
    every_model[model] = [asdict(item) for item in kept.values()]
    file.write_text(json.dumps(every_model, indent=1))


def read_outcomes(file: Path, model: str) -> dict[str, Outcome]:
    items = json.loads(file.read_text()).get(model, []) if file.exists() else []
    return {item["story"]: Outcome(**item) for item in items}


def write_report(file: Path, model: str) -> None:
    outcomes = list(read_outcomes(file, model).values())
    bugs = [item for item in outcomes if item.story.startswith(BUG)]
    stories = [item for item in outcomes if item not in bugs]
    lines = [
        "# Autonomy: from a desire to a deployed change",
        "",
        INTRODUCTION.format(model=model, cores=os.cpu_count()),
    ]
    lines += _compare_coders(file, model)
    for title, items in (("Stories", stories), ("QuixBugs", bugs)):
        lines += ["", f"## {title}", "", *_list_rows(items)] if items else []
    for item in stories:
        lines += ["", f"## {item.story}", "", f"> {item.wish}", ""]
        lines += ["```diff", item.diff.strip(), "```", ""] if item.diff else []
        lines += ["The ledger's story: " + " → ".join(_shorten(item.ledger)) + "."]
    lines += ["", NOTES.read_text().rstrip()]
    REPORT.write_text("\n".join(lines) + "\n")


def _compare_coders(file: Path, model: str) -> list[str]:
    """Put the coders side by side that were measured with a model; nothing where it is one."""
    kept: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    prefix = name_run(model, " ").rstrip() + " "
    coders = [name.removeprefix(prefix) for name in kept if name.startswith(prefix)]
    if not coders:
        return []
    runs = {BUILT_IN: read_outcomes(file, model)}
    runs |= {coder: read_outcomes(file, name_run(model, coder)) for coder in coders}
    stories = dict.fromkeys(story for outcomes in runs.values() for story in outcomes)
    return [
        "",
        "## Coders side by side",
        "",
        COMPARISON,
        "",
        f"| story | {' | '.join(runs)} |",
        "| --- |" + " --- |" * len(runs),
        *(
            f"| {story.removeprefix(BUG)} | "
            + " | ".join(_sum_up(outcomes.get(story)) for outcomes in runs.values())
            + " |"
            for story in stories
        ),
    ]


def _sum_up(item: Outcome | None) -> str:
    if item is None:
        return "not measured"
    return (
        f"{_describe(item)}; {item.calls} calls, {item.tokens:,} tokens, {item.seconds:,.0f} s,"
        f" {item.signatures} signatures, {item.harmful} harmful"
    )


def _list_rows(outcomes: list[Outcome]) -> list[str]:
    passed = sum(outcome.passed for outcome in outcomes)
    harmful = sum(outcome.harmful for outcome in outcomes)
    most = max(outcome.signatures for outcome in outcomes)
    return [
        f"**{passed} of {len(outcomes)} passed**; harmful effects: {harmful}; signatures: ≤{most}.",
        "",
        "| story | result | changes | calls | tokens | model seconds | all seconds | signatures |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
        *(
            f"| {item.story.removeprefix(BUG)} | {_describe(item)} | {item.tries} | {item.calls}"
            f" | {item.tokens:,} | {item.model_seconds:,.0f} | {item.seconds:,.0f}"
            f" | {item.signatures} |"
            for item in outcomes
        ),
    ]


def _describe(item: Outcome) -> str:
    return "passed" if item.passed else f"stopped at {item.stopped_at}: {_tidy(item.why)}"


def _shorten(types: list[str]) -> list[str]:
    """Write what repeats once, with how often."""
    runs: list[tuple[str, int]] = []
    for name in types:
        if runs and runs[-1][0] == name:
            runs[-1] = (name, runs[-1][1] + 1)
        else:
            runs.append((name, 1))
    return [name if count == 1 else f"{name} ({count} times)" for name, count in runs]


def _tidy(text: str) -> str:
    return " ".join(text.replace("|", "/").split())[:160]
