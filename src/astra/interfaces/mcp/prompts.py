"""Prompts a person can pick in their client: each is a way through the tools, in words.

They carry no authority: a model that follows one still passes the gate at every call.

>>> [prompt.name for prompt in PROMPTS]
['propose-a-change', 'plan-a-nights-work', 'why-was-this-taken-back']
>>> "fix the typo" in write_prompt("propose-a-change", {"goal": "fix the typo"})
True
"""

from collections.abc import Mapping
from dataclasses import dataclass

from astra.trusted.kernel.errors import BadInput, NotFound

_LONGEST = 4_000


@dataclass(frozen=True, kw_only=True)
class PromptText:
    name: str
    title: str
    about: str
    argument: str
    argument_about: str
    text: str


PROMPTS = (
    PromptText(
        name="propose-a-change",
        title="Propose a change",
        about="Edit your own source code and put the change before a person.",
        argument="goal",
        argument_about="what the change is to achieve",
        text="""\
Propose a change to your own source code that achieves this:

{value}

1. Find the code with search_source and read_source_code.
2. Make the smallest change that does it, with tests for it.
3. Send it with schedule_code_modification, with a reason a reviewer understands. If code writing is
   off, say so and show the diff instead.
4. Follow it with astra_changes_get: mend what the scan or the tests find (`supersedes` names the
   change you replace).
5. Tell the operator the change id and what they have to decide. You cannot approve it.""",
    ),
    PromptText(
        name="plan-a-nights-work",
        title="Plan a night's work",
        about="Draft a plan with the permissions it needs, to be signed once and run unattended.",
        argument="goal",
        argument_about="what is to be done by tomorrow",
        text="""\
Plan a night's work towards this:

{value}

1. Look at what is there: astra_health, astra_plans_list, astra_changes_list, read_source_code.
2. Write a plan for astra_plans_draft: goals, checkpoints in order with what each leaves behind, and
   a manifest with the narrowest paths, hosts and skills that will do. Say what you assume.
3. Answer questions with astra_plans_answer, and ask the person where you would have to guess.
4. For what is to happen at a certain time use astra_schedule_create.
5. Tell the operator which plan waits for their signature, what it may touch, what it may not.""",
    ),
    PromptText(
        name="why-was-this-taken-back",
        title="Why was this taken back?",
        about="Explain why a change or a release was rolled back, from the record.",
        argument="change",
        argument_about="the id of the change: chg_…",
        text="""\
Explain why {value} was taken back.

1. Read its story with astra_changes_get (diff: true): findings, test evidence, comments, state.
2. Look for what was said when it was taken back: astra_awareness_read, tasks_last_failed.
3. Say what happened in order, with the evidence for each step, what is certain and what is not.
4. Propose the next step: a mended change, a test that would have caught it, or nothing.""",
    ),
)


def find_prompt(name: str) -> PromptText:
    for prompt in PROMPTS:
        if prompt.name == name:
            return prompt
    raise NotFound(
        f"there is no prompt {name[:100]!r}",
        code="unknown_prompt",
        next_step=", ".join(prompt.name for prompt in PROMPTS),
    )


def write_prompt(name: str, arguments: Mapping[str, str]) -> str:
    prompt = find_prompt(name)
    value = arguments.get(prompt.argument, "").strip()
    if not value or len(value) > _LONGEST:
        raise BadInput(
            f"{name} needs {prompt.argument}: {prompt.argument_about}",
            next_step=f"give it, in {_LONGEST} characters at most",
        )
    return prompt.text.replace("{value}", value)
