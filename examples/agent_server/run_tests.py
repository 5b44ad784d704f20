"""Runs the tests that need no pytest, for a machine that has none: `python run_tests.py REPORT`.

The report is JUnit's XML, as pytest writes it.
"""

import inspect
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from xml.etree.ElementTree import Element, ElementTree, SubElement

HERE = Path(__file__).resolve().parent


def main(report: str) -> int:
    sys.path[:0] = [str(HERE), str(HERE / "tests")]
    import test_agent_server

    suite = Element("testsuite", name="agent_server")
    tests = [test for name, test in vars(test_agent_server).items() if name.startswith("test_")]
    failures = [test.__name__ for test in tests if not run(test, suite)]
    ElementTree(suite).write(report, encoding="utf-8")
    print(f"{len(tests) - len(failures)} of {len(tests)} tests passed", *failures)
    return 1 if failures else 0


def run(test: Callable[..., None], suite: Element) -> bool:
    case = SubElement(suite, "testcase", classname="tests.test_agent_server", name=test.__name__)
    with tempfile.TemporaryDirectory() as folder:
        try:
            test(**{name: make(name, Path(folder)) for name in inspect.signature(test).parameters})
        except Exception as error:  # noqa: BLE001 - whatever a test raises is its failure
            SubElement(case, "failure", message=repr(error))
            traceback.print_exc()
            return False
    return True


def make(fixture: str, folder: Path) -> object:
    """Make what the fixtures of `conftest.py` make."""
    if fixture == "tmp_path":
        return folder
    from running import Running

    (folder / "static").mkdir()
    (folder / "static" / "index.html").write_text("<h1>page</h1>")
    return Running(folder / "state", folder / "static")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
