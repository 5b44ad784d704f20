"""How a run ended: a closed vocabulary, and in words why."""

import signal

from astra.trusted.egress.summary import EgressSummary
from astra.trusted.kernel.errors import AstraError
from astra.trusted.sandbox.ports import Outcome, Verdict
from astra.trusted.sandbox.supervision import Ending, limit_of_signal

_KILLED = 128 + signal.SIGKILL
_NOT_STARTED = frozenset({126, 127})
_BY_KEEPER = "astra: execvp "
GATE = "astra-gate"
"""The name under which the shell at the gate says that it cannot start the command."""
_TOOLCHAIN_HINT = "check its name, and that the box was given the toolchain it needs"


def outcome_from_error(error: AstraError) -> Outcome:
    return Outcome(
        verdict=Verdict.NEVER_RAN,
        reason=error.detail,
        next_step=error.next_step,
        code=error.reason,
    )


def judge_ending(
    ending: Ending, *, stopped: str, limits: float, egress: EgressSummary, seconds: float
) -> Outcome:
    """Say how a box ended; `stopped` says why it was ended from outside, if it was."""
    verdict, reason, next_step = _decide_verdict(ending, stopped=stopped, seconds=limits)
    limit = ending.limit or limit_of_signal(ending.exit_code or 0)
    if not ending.dead:
        reason += "; some of its processes did not end yet: run astra stop --now"
    return Outcome(
        verdict=verdict,
        reason=reason,
        next_step=next_step,
        exit_code=ending.exit_code if verdict in {Verdict.SUCCEEDED, Verdict.FAILED} else None,
        limit=limit if verdict is Verdict.KILLED_BY_LIMIT else None,
        seconds=seconds,
        stdout=bytes(ending.output["stdout"]),
        stderr=bytes(ending.output["stderr"]),
        egress=egress,
    )


def find_start_failure(code: int | None, output: bytes) -> str:
    """Say why a command could not be executed, where one line of the shell is all that was said."""
    text = output.decode("utf-8", "replace").strip()
    if code is None or "\n" in text:
        return ""
    verdict, reason, _next_step = _why_not(code, text)
    return reason if verdict is Verdict.NEVER_RAN else ""


def _decide_verdict(ending: Ending, *, stopped: str, seconds: float) -> tuple[Verdict, str, str]:
    """Say how it ended; what Astra did to the box comes before what the box says of itself."""
    code = ending.exit_code
    limit = ending.limit or limit_of_signal(code or 0)
    if ending.timed_out:
        return Verdict.TIMED_OUT, f"not done after {seconds:g} s", "ask for more time, or do less"
    if limit:
        return Verdict.KILLED_BY_LIMIT, f"passed the limit on {limit}", "use less, or ask for more"
    if stopped and code in {None, _KILLED}:
        return Verdict.STOPPED_BY_OPERATOR, stopped, "astra status"
    if code == 0:
        return Verdict.SUCCEEDED, "exit code 0", ""
    return _why_not(code, _last_words(ending))


def _why_not(code: int | None, words: str) -> tuple[Verdict, str, str]:
    if code is None:
        return Verdict.NEVER_RAN, words or "the box ended before its command", "run astra doctor"
    if words.startswith(_BY_KEEPER):
        name = words.removeprefix(_BY_KEEPER)
        return Verdict.NEVER_RAN, f"the command cannot be started: {name}", _TOOLCHAIN_HINT
    if words.startswith(f"{GATE}: ") and code in _NOT_STARTED:
        name = words.split(": ", 2)[-1].removeprefix("exec: ")
        return Verdict.NEVER_RAN, f"the command cannot be started: {name}", _TOOLCHAIN_HINT
    return Verdict.FAILED, f"exit code {code}", "read its output"


def _last_words(ending: Ending) -> str:
    """Give what was said when it is one line and nothing else: then the command never spoke."""
    text = bytes(ending.output["stderr"]).decode("utf-8", "replace").strip()
    return text if not ending.output["stdout"] and "\n" not in text else ""
