"""The plan that a page shows is taken as it is written there."""

import json
import re
from pathlib import Path

from plans_at_work import PlansAtWork

PAGE = Path(__file__).parents[3] / "docs" / "howto" / "run-a-plan.md"


def test_the_documented_plan_is_drafted_and_approved_as_written() -> None:
    (text,) = re.findall(r"```json\n(.*?)```", PAGE.read_text(), re.DOTALL)
    plan = PlansAtWork().approved(json.loads(text))
    assert plan.state == "approved"
