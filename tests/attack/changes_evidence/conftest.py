"""The target of the test runs, for code that attacks its own evidence."""

import importlib.util
from pathlib import Path

_path = Path(__file__).parents[2] / "integration" / "test_runs" / "conftest.py"
_spec = importlib.util.spec_from_file_location("test_runs_conftest", _path)
assert _spec is not None
assert _spec.loader is not None
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)
target, base = _module.target, _module.base
