"""Node projects: versions, runner, dependencies and app, from package.json and its neighbours."""

import re
from typing import Any

from astra.adoption.apps import find_health_path
from astra.adoption.detected import Detected, DetectedApp
from astra.adoption.repository_files import RepositoryFiles, get_section

_REPORTED = {
    "vitest": "npx vitest run --reporter=default --reporter=junit --outputFile={junit}",
    "jest": "npx jest --json --outputFile={junit}",
    "mocha": "npx mocha --reporter xunit --reporter-option output={junit}",
    "node": "node --test --test-reporter=junit --test-reporter-destination={junit}",
}
_NODE_START = re.compile(r"node\s+([\w./-]+\.[cm]?js)")
_TEST_WORDS = re.compile(r"node\s+(?:[\w=./-]+\s+)*--test\b")
_TEST_WORD = re.compile(r"\s--test(?=\s|$)")
_OPTIONS = re.compile(r"(?:mocha|node)((?:\s+[\w./=:@*-]+)*)")
_REPORTER = re.compile(r"\s--(?:test-)?reporter(?:-destination)?[ =]\S+")
_NPM_RUN = re.compile(r"\b(?:npm|yarn|pnpm) run (?:-s |--silent )?([\w:.-]+)")
_NO_TEST = "no test specified"
_CONFIGURATIONS = {
    "vitest": r"vitest\.config\.\w+",
    "jest": r"jest\.config\.\w+",
    "mocha": r"\.mocharc(?:\.\w+)?",
}


def detect(files: RepositoryFiles) -> Detected | None:
    if not files.has("package.json"):
        return None
    package = files.read_table("package.json")
    scripts = get_section(package, "scripts")
    test_script = str(scripts.get("test", ""))
    runner, because = _find_runner(files, package, _expand_script(test_script, scripts))
    dependencies = _list_packages(package)
    return Detected(
        language="typescript" if files.has("tsconfig.json") else "javascript",
        versions=_find_versions(files, package),
        runner=runner,
        test_command=_build_command(runner, test_script),
        environment="auto" if dependencies else "",
        app=_find_app(files, package, scripts),
        because=because,
    )


def _expand_script(script: str, scripts: dict[str, Any]) -> str:
    """Put the scripts of the same file in place of `npm run NAME`.

    >>> _expand_script("npm run lint && npm run unit", {"lint": "eslint .", "unit": "jest src"})
    'eslint . && jest src'
    """
    return _NPM_RUN.sub(lambda match: str(scripts.get(match[1], match[0])), script)


def _find_runner(
    files: RepositoryFiles, package: dict[str, Any], script: str
) -> tuple[str, tuple[str, ...]]:
    """Name the runner: the one that the test script starts, else the one that is installed."""
    runner = _find_named_runner(script)
    if not runner and len(configured := _list_configured(files)) == 1:
        return configured[0]
    if runner or (script and _NO_TEST not in script):
        return runner or "npm", ('"test" in package.json',)
    packages = _list_packages(package)
    for name in ("vitest", "jest", "mocha"):
        if name in packages:
            return name, (f"{name} is among the dependencies",)
    samples = [text for path, text in files.texts.items() if path.endswith((".js", ".mjs", ".cjs"))]
    if any("node:test" in text for text in samples):
        return "node", ("the tests import node:test",)
    return "", ()


def _find_named_runner(script: str) -> str:
    if _TEST_WORDS.search(script):
        return "node"
    names = ("vitest", "jest", "mocha")
    return next((name for name in names if re.search(rf"\b{name}\b", script)), "")


def _list_configured(files: RepositoryFiles) -> list[tuple[str, tuple[str, ...]]]:
    """List the runners that have a configuration of their own at the top of the repository."""
    runners = {
        runner: path for runner, pattern in _CONFIGURATIONS.items() for path in files.find(pattern)
    }
    return [(runner, (path,)) for runner, path in runners.items()]


def _build_command(runner: str, script: str) -> str:
    """Give the runner's own command with a report; what the script adds is kept.

    >>> _build_command("mocha", "mocha --require test/env test/")
    'npx mocha --reporter xunit --reporter-option output={junit} --require test/env test/'
    """
    if runner in {"", "npm"}:
        return "npm test" if runner else ""
    extra = _OPTIONS.fullmatch(script.strip()) if runner in {"mocha", "node"} else None
    options = _REPORTER.sub("", extra[1]) if extra else ""
    if runner == "node" and _TEST_WORD.search(options):
        reported_test = _REPORTED["node"].removeprefix("node")
        return "node" + _TEST_WORD.sub(reported_test, options, count=1)
    return _REPORTED[runner] + options.rstrip()


def _list_packages(package: dict[str, Any]) -> frozenset[str]:
    groups = ("dependencies", "devDependencies")
    return frozenset(name for group in groups for name in get_section(package, group))


def _find_versions(files: RepositoryFiles, package: dict[str, Any]) -> str:
    engine = get_section(package, "engines").get("node")
    texts = (engine, files.read_text(".nvmrc"), files.read_text(".node-version"))
    return next((t.strip()[:60] for t in texts if isinstance(t, str) and t.strip()), "")


def _find_app(
    files: RepositoryFiles, package: dict[str, Any], scripts: dict[str, Any]
) -> DetectedApp | None:
    start = str(scripts.get("start", "")).strip()
    if match := _NODE_START.fullmatch(start):
        path = match[1].removeprefix("./")
        return DetectedApp(
            command=f"node {path}",
            health_path=find_health_path(files, path),
            because='"start" in package.json',
        )
    if start:
        return DetectedApp(command="npm start", because='"start" in package.json')
    main = package.get("main")
    if isinstance(main, str) and ".listen(" in files.read_text(main.removeprefix("./")):
        path = main.removeprefix("./")
        return DetectedApp(
            command=f"node {path}", health_path=find_health_path(files, path), because=path
        )
    return None
