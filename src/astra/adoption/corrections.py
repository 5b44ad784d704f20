"""What the operator says instead of what was detected, on the line of `astra init`.

>>> named = Corrections(test_command="go test ./a")
>>> correct(Detected(test_command="make test"), named).test_command
'go test ./a'
"""

from dataclasses import dataclass, replace

from astra.adoption import target_command
from astra.adoption.detected import Detected, DetectedApp

_THE_OPERATOR = "what you named"


@dataclass(frozen=True, kw_only=True)
class Corrections:
    """Empty where the operator said nothing."""

    test_command: str = ""
    app_command: str = ""
    health_path: str = ""


NO_CORRECTIONS = Corrections()


def correct(detected: Detected, corrections: Corrections) -> Detected:
    """Put the operator's words in the place of guesses."""
    if corrections.test_command:
        target_command.parse(corrections.test_command)
        detected = replace(
            detected, runner="", test_command=corrections.test_command, because=(_THE_OPERATOR,)
        )
    return replace(detected, app=_correct_app(detected.app, corrections))


def _correct_app(app: DetectedApp | None, corrections: Corrections) -> DetectedApp | None:
    command, health_path = corrections.app_command, corrections.health_path
    if command:
        listens = "{port}" in command or "{fd}" in command
        app = DetectedApp(command=command, because=_THE_OPERATOR, listens=listens)
    return replace(app, health_path=health_path) if app and health_path else app
