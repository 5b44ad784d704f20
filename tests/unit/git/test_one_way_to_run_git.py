"""Nothing but `git_command` starts git: read from the source, so that it stays so."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import astra

SOURCE = Path(astra.__file__).parent
RUNNER = "trusted/git/git_command.py"
MAY_NAME_GIT = {
    RUNNER: "it is the one",
    "clone_imports.py": "runs git in a box, on the agent's clone, and says so",
    "clone_following.py": "runs git in a box, on the agent's clone, and says so",
    "daemon/error_answers.py": "names a program that is missing, and starts nothing",
    "doctor.py": "looks whether it is installed, and starts nothing",
}
_PROGRAM = re.compile(r"(/\S*/)?git")
_COMMANDS = (
    "add|am|apply|archive|bisect|branch|bundle|cat-file|checkout|cherry-pick|clone|commit|config"
    "|diff|fetch|fsck|gc|grep|hash-object|init|log|ls-|merge|mktree|mv|pull|push|read-tree|rebase"
    "|remote|reset|restore|rev-|rm|show|stash|status|submodule|switch|symbolic-ref|tag|update-"
    "|worktree|write-tree"
)
_IN_A_SCRIPT = re.compile(rf"(^|[\n(;&|]|\bexec |\bthen )\s*git (-|{_COMMANDS})")


def test_no_other_module_starts_git() -> None:
    named = {
        (name, line)
        for path in SOURCE.rglob("*.py")
        for line in git_commands(ast.parse(path.read_text()))
        if not (name := str(path.relative_to(SOURCE))).endswith(tuple(MAY_NAME_GIT))
    }
    assert not named, f"run git with astra.{RUNNER}, or say here why it cannot be: {named}"


def test_every_exception_still_needs_to_be_one() -> None:
    for name in MAY_NAME_GIT:
        (path,) = [path for path in SOURCE.rglob("*.py") if str(path).endswith(f"/{name}")]
        assert list(git_commands(ast.parse(path.read_text())))


def test_a_git_command_is_found_however_it_is_spelled() -> None:
    for text in (
        'run(["git", "status"])',
        'run(("/usr/bin/git", *words))',
        'program = "git"',
        'run("git status", shell=True)',
        'SCRIPT = """\nset -e\ngit init\n"""',
        'SCRIPT = "cd x; git init"',
        'SCRIPT = f"cd {x} && git init"',
    ):
        assert list(git_commands(ast.parse(text))), text
    for text in (
        '"""Text about git itself."""',
        'folder = root / "git"',
        'words = "the git configuration"',
        'next_step = "run `git init`, then again"',
        'words = "git took too long"',
        'if "git" in name: pass',
    ):
        assert not list(git_commands(ast.parse(text))), text


def git_commands(tree: ast.Module) -> Iterator[int]:
    """Give the lines of strings that name the program, or a script that calls it."""
    nodes = list(ast.walk(tree))
    left_out = {id(node) for node in (*_documentation(nodes), *_paths(nodes), *_comparisons(nodes))}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
            if id(node) not in left_out and (_PROGRAM.fullmatch(text) or _IN_A_SCRIPT.search(text)):
                yield node.lineno


def _documentation(nodes: list[ast.AST]) -> Iterator[ast.expr]:
    for node in nodes:
        if isinstance(node, ast.Expr):
            yield node.value


def _paths(nodes: list[ast.AST]) -> Iterator[ast.expr]:
    """Give what a path is put together of: `var / "git"`."""
    for node in nodes:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            yield node.right


def _comparisons(nodes: list[ast.AST]) -> Iterator[ast.expr]:
    for node in nodes:
        if isinstance(node, ast.Compare):
            yield node.left
