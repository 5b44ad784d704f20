"""Astra on Astra: every file that signs, records, merges, launches or stops needs consent by path.

Which files those are is read from what they call, so that a new one cannot be forgotten.
"""

import re
from pathlib import Path

import pytest

from astra.trusted.changes.admission import ASTRA_ITSELF, PROTECTED_CORE, Rules
from astra.trusted.settings.configuration import Target

ROOT = Path(__file__).parents[3]
CALLS = {
    "signs": r"\bunseal\(|\bseal\(|KeyPair\.(?:generate|from_seed)\(|authority\.sign\(",
    "launches": r"subprocess\.(?:Popen|run|check_\w+)\(|\bPopen\(|os\.(?:fork|exec\w*|posix_spawn)",
    "stops": r"os\.kill(?:pg)?\(|pidfd_send_signal\(|send_signal\(|\.kill\(\)|\.terminate\(\)",
    "records": r"\bIndexedLedger\):|\b(?:FileLedger|PostgresLedger)\(",
    "merges": r"\bfast_forward\(|update-ref",
}
HARMLESS = {
    "src/astra/adapters/interpreters.py": "asks interpreters of the machine for their version",
    "src/astra/adapters/mutation_worker/plugin.py": "runs inside a box",
    "src/astra/adapters/package_registries.py": "asks pip and npm for their settings",
    "src/astra/adapters/scan_worker/checkers.py": "runs inside a box",
    "src/astra/changes/dry_run.py": "signs with the key of a ledger that is thrown away",
    "src/astra/changes/findings/python_effects.py": "names such calls to find them in a change",
    "src/astra/changes/findings/python_test_setup.py": "names such calls to find them in a change",
    "src/astra/interfaces/cli/demo.py": "tells a story on a throwaway data root",
    "src/astra/interfaces/cli/load_attack.py": "attacks a throwaway data root",
    "src/astra/interfaces/cli/paging.py": "starts the pager of the operator's terminal",
    "src/astra/testing.py": "fakes for tests",
}
NAMED_IN_THE_FINDING = (
    "src/astra/adapters/supervisor/holder.py",
    "src/astra/trusted/changes/admission.py",
    "src/astra/trusted/changes/merging.py",
    "src/astra/trusted/calls/counter.py",
    "src/astra/trusted/files/operators_key.py",
    "src/astra/trusted/door/front_door.py",
    "src/astra/trusted/policy/gate.py",
    "src/astra/trusted/stop/stop.py",
    "src/astra/trusted/sandbox/launch.py",
    "src/astra/deployments/requests.py",
    "src/astra/interfaces/cli/signing.py",
)


def list_protected(*paths: str) -> tuple[str, ...]:
    rules = Rules(target=Target(), manages_itself=True)
    return tuple(path for path in paths if rules.is_protected(path))


def find_by_call(pattern: str) -> list[str]:
    sources = sorted((ROOT / "src" / "astra").rglob("*.py"))
    return [str(path.relative_to(ROOT)) for path in sources if re.search(pattern, path.read_text())]


@pytest.mark.parametrize("deed", CALLS)
def test_whatever_does_it_is_protected_or_says_why_not(deed: str) -> None:
    paths = find_by_call(CALLS[deed])
    assert paths, "the pattern finds nothing any more"
    protected = list_protected(*paths)
    assert [path for path in paths if path not in protected and path not in HARMLESS] == []


def test_the_files_that_an_attack_named_are_there_and_protected() -> None:
    assert [path for path in NAMED_IN_THE_FINDING if not (ROOT / path).is_file()] == []
    assert list_protected(*NAMED_IN_THE_FINDING) == NAMED_IN_THE_FINDING


def test_every_entry_of_the_rule_and_of_the_exceptions_exists() -> None:
    entries = (ASTRA_ITSELF, *PROTECTED_CORE, *HARMLESS)
    assert [entry for entry in entries if not (ROOT / entry).exists()] == []
