"""What the operator says instead of what was detected, on the line of `astra init`.

>>> named = Corrections(test_command="go test ./a")
>>> correct(Detected(test_command="make test"), named).test_command
'go test ./a'
"""

from dataclasses import dataclass, replace

from astra.adoption import target_command
from astra.adoption.detected import Detected, DetectedApp

_THE_OPERATOR = "what you named"
_PORT_PLACES = ("{port}", "{fd}", "$PORT", "${PORT}")


@dataclass(frozen=True, kw_only=True)
class Corrections:
    """Empty where the operator said nothing."""

    test_command: str = ""
    app_command: str = ""
    health_path: str = ""
    before_start: str = ""
    packages: tuple[str, ...] = ()
    app_env: tuple[tuple[str, str], ...] = ()


NO_CORRECTIONS = Corrections()


def correct(detected: Detected, corrections: Corrections) -> Detected:
    """Put the operator's words in the place of guesses."""
    if corrections.test_command:
        target_command.parse(corrections.test_command)
        detected = replace(
            detected, runner="", test_command=corrections.test_command, because=(_THE_OPERATOR,)
        )
    if corrections.packages:
        environment = detected.environment or "auto"
        detected = replace(detected, packages=corrections.packages, environment=environment)
    return replace(detected, app=_correct_app(detected.app, corrections))


def _correct_app(app: DetectedApp | None, corrections: Corrections) -> DetectedApp | None:
    if command := corrections.app_command:
        # Only a server has an address to ask; without a place in its words it reads PORT.
        has_place = any(place in command for place in _PORT_PLACES)
        listens = has_place or bool(corrections.health_path)
        health_path = app.health_path if app and app.health_path else "/"
        app = DetectedApp(
            command=command, because=_THE_OPERATOR, listens=listens, health_path=health_path
        )
    if app is None:
        return None
    return replace(
        app,
        health_path=corrections.health_path or app.health_path,
        before_start=corrections.before_start or app.before_start,
        env=corrections.app_env or app.env,
    )
