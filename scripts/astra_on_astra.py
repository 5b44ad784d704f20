"""`make self`: an Astra whose target is Astra. It changes, tests, signs and runs the other one.

A clean clone of this repository is the target of an outer Astra on a throwaway data root. Its app
is the Astra of that clone, on a data root of its own in the app's state folder. A change to the
trusted core is tested in a box, asks for consent by its path, is signed and goes into service; a
change that is broken on purpose goes into service too, fails its health and is taken back. That
version also raises the format of the data root, which no version before it would open: the state
folder was saved before it started, and is put back with the version.

    python scripts/astra_on_astra.py
"""

import http.client
import json
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from astra.interfaces.cli.console import Console
from astra.interfaces.cli.demo import Story
from astra.trusted.kernel.errors import AstraError

REPOSITORY = Path(__file__).resolve().parent.parent
TESTS = ("tests/unit/kernel", "tests/unit/ledger")
TRUSTED = "src/astra/trusted/door/front_door.py"
HEALTH = "src/astra/interfaces/daemon/app.py"
FORMATS = "src/astra/trusted/ledger/formats.py"
OLD_WORDS, NEW_WORDS = "Host header not allowed", "this Host header is not one of ours"
LEFT_OUT = (".git", ".venv*", "node_modules", "__pycache__", "agent-data", ".*_cache")
_FORMAT = re.compile(r'"format":(\d+)')
GOOD_LOOKS = 1
"""It goes into service with its first good answer; no later one is good."""


@dataclass(frozen=True)
class Edit:
    path: str
    search: str
    replacement: str


BETTER = Edit(TRUSTED, f'"{OLD_WORDS}"', f'"{NEW_WORDS}"')
BROKEN = Edit(
    HEALTH,
    "    def healthz(response: Response) -> Health:\n",
    "    def healthz(response: Response) -> Health:\n"
    "        looks.append(1)\n"
    f"        if len(looks) > {GOOD_LOOKS}:\n"
    '            raise RuntimeError("broken on purpose")\n',
)
BROKEN_TOO = Edit(
    HEALTH, '    @app.get("/healthz")\n', '    looks: list[int] = []\n\n    @app.get("/healthz")\n'
)
HIGHER = Edit(FORMATS, "FORMAT = 1 + _RULES_OF_THE_CHAIN", "FORMAT = 2 + _RULES_OF_THE_CHAIN")


def main() -> int:
    folder = Path(tempfile.mkdtemp(prefix="astra-self-"))
    console = Console(as_json=False)
    story = Story(folder, console)
    for ending in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(ending) is not signal.SIG_IGN:  # nohup
            signal.signal(ending, _exit_on_signal)
    try:
        tell_story(story)
    except AstraError as error:
        console.print_error(error)
        return 1
    finally:
        story.run_astra("down")
        shutil.rmtree(folder, ignore_errors=True)
    return 0


def tell_story(story: Story) -> None:
    port = _find_free_port()
    clone_repository(story)
    sign_contract(story, port)
    deploy_first(story, port)
    change_trusted_core(story, port)
    break_on_purpose(story, port)
    end(story)


def clone_repository(story: Story) -> None:
    story.print_heading("1. A clean clone of this repository is the target of an outer Astra")
    clone = story.folder / "astra"
    try:
        _run_git("clone", "--quiet", str(REPOSITORY), str(clone))
    except subprocess.CalledProcessError:
        story.say(
            "    Git has no history here that it may read: the files are committed as they are"
        )
        commit_files(clone)
    _run_git("-C", str(clone), "checkout", "--quiet", "-B", "main")
    story.say(f"    {_run_git('-C', str(clone), 'log', '-1', '--format=%h %s').strip()}")
    story.show("init", "astra", "--throwaway")


def commit_files(clone: Path) -> None:
    """Make a repository of the files that are here, without those that `.gitignore` names."""
    shutil.copytree(REPOSITORY, clone, symlinks=True, ignore=shutil.ignore_patterns(*LEFT_OUT))
    _run_git("-C", str(clone), "init", "--quiet")
    _run_git("-C", str(clone), "add", "--all")
    names = ("-c", "user.name=self", "-c", "user.email=self@localhost")
    _run_git("-C", str(clone), *names, "commit", "--quiet", "--message", "Astra as it is here")


def sign_contract(story: Story, port: int) -> None:
    story.print_heading("2. The operator signs: its tests, and the Astra of the clone as the app")
    story.say(f"    Of its tests these run, to be quick: {' '.join(TESTS)}")
    text = build_configuration(port)
    (story.folder / "data" / "astra.toml").write_text(text)
    for line in text.splitlines():
        story.say(f"    {line}")
    story.show("config", "sign")
    story.show("flags", "set", "ASTRA_CODE_WRITE_ENABLED", "on")


def build_configuration(port: int) -> str:
    """Give what the operator signs; the environment is the one that this program runs in."""
    python = shlex.quote(sys.executable)
    tests = f"{python} -m pytest -q -p no:cacheprovider -p no:randomly {' '.join(TESTS)}"
    lines = (
        "[target]",
        'branch = "main"',
        f"test_command = {json.dumps(tests)}",
        f"environment = {json.dumps(sys.prefix)}",
        'env = { PYTHONPATH = "src" }',
        "mutation_seconds = 0",
        "[app]",
        f"command = {json.dumps(f'{python} scripts/serve_release.py {{port}} {port}')}",
        f"port = {port}",
        'health_path = "/healthz"',
        f'health_host = "localhost:{port}"',
        "# A data root has one owner: the old Astra leaves before the new one comes.",
        'replace = "stop-first"',
        "# The data root is saved before a version opens it, so that its format may be raised.",
        'before_start = "true"',
        "start_seconds = 300",
        "health_seconds = 30",
        "watch_seconds = 5",
    )
    return "\n".join(lines) + "\n"


def deploy_first(story: Story, port: int) -> None:
    story.print_heading("3. The inner Astra goes into service, on a data root of its own")
    story.show("deploy")
    show_health(story, port)


def change_trusted_core(story: Story, port: int) -> None:
    story.print_heading(
        "4. A small change to Astra's trusted core is proposed, and tested in a box"
    )
    change = propose(story, "say in plain words what is wrong with a Host header", BETTER)
    story.show("changes", "show", change)
    story.print_heading("5. The trusted core wants consent by name: an approval alone is refused")
    story.show("changes", "approve", change, "--deploy", code=1)
    story.print_heading("6. Signed with consent, it goes into service on the same inner data root")
    story.show("changes", "approve", change, "--deploy", "--consent", TRUSTED)
    story.wait_for_deployment()
    show_health(story, port)
    _require(NEW_WORDS in ask(port, host="somebody.example")[1], "the new words are not served")
    story.say(f'    asked by a wrong name it answers now: "{NEW_WORDS}"')


def break_on_purpose(story: Story, port: int) -> None:
    story.print_heading("7. A version that is broken on purpose passes those tests, and is signed")
    before = read_format(story, "app-state")
    change = propose(story, "count looks, in a new format", BROKEN, BROKEN_TOO, HIGHER)
    story.show("changes", "approve", change, "--deploy", "--consent", FORMATS, code=1)
    story.wait_for_deployment()
    story.print_heading("8. Its health failed: the Astra before it was brought back by itself")
    story.show("releases")
    show_health(story, port)
    raised = read_format(story, "var/state-snapshots/*.set-aside")
    _require(raised > before, "the broken version did not raise the format")
    _require(read_format(story, "app-state") == before, "the data root was not put back")
    story.say(
        f"    what it wrote, format {raised}, is set aside; the data root has format {before}"
    )
    _require(NEW_WORDS in ask(port, host="somebody.example")[1], "another version came back")
    story.print_heading("9. This is its story")
    story.show("ledger", "story", change)


def end(story: Story) -> None:
    story.print_heading("10. The record of the outer Astra is whole")
    story.show("ledger", "verify")


def propose(story: Story, reason: str, *edits: Edit) -> str:
    """Propose files as they are in the clone, with these edits; wait for the evidence."""
    options: list[str] = []
    for number, path in enumerate(dict.fromkeys(edit.path for edit in edits)):
        draft = story.folder / f"draft-{number}.py"
        draft.write_text(edit_file(story, path, edits))
        options += ["--edit", f"{path}={draft}"]
    proposed = story.run_json("changes", "propose", *options, "--reason", reason)
    return str(proposed["id"])


def edit_file(story: Story, path: str, edits: tuple[Edit, ...]) -> str:
    """Give the text of a file with its edits, and show them."""
    text = (story.folder / "astra" / path).read_text()
    story.say(f"    {path}")
    for edit in (edit for edit in edits if edit.path == path):
        _require(text.count(edit.search) == 1, f"{edit.search!r} is not once in {path}")
        text = text.replace(edit.search, edit.replacement)
        kept_lines = edit.search.splitlines()
        for line in edit.replacement.splitlines():
            story.say(f"      {' ' if line in kept_lines else '+'} {line}")
    return text


def show_health(story: Story, port: int) -> None:
    status, _body, release = ask(port, host=f"localhost:{port}")
    _require(status == http.HTTPStatus.OK, f"the inner Astra answered {status}")
    _require(bool(release), "the inner Astra does not say which release it is")
    story.say(f"    http://localhost:{port}/healthz answers {status}; it is release {release}")


def ask(port: int, *, host: str) -> tuple[int, str, str]:
    """Ask the inner Astra for its health by a name; give status, body and release."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", "/healthz", headers={"Host": host})
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), answer.getheader("Astra-Release", "")
    finally:
        connection.close()


def read_format(story: Story, state: str) -> int:
    """Give the highest format that the records of an inner data root name."""
    ledgers = (story.folder / "data").glob(f"{state}/data/var/ledger/*.ndjson")
    texts = [ledger.read_text() for ledger in ledgers]
    return max((int(number) for text in texts for number in _FORMAT.findall(text)), default=0)


def _require(holds: bool, trouble: str) -> None:  # noqa: FBT001 - one thing that has to hold
    if not holds:
        raise AstraError(trouble, next_step="run `make self` again, and report this")


def _run_git(*words: str) -> str:
    return subprocess.run(["git", *words], check=True, capture_output=True, text=True).stdout


def _find_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _exit_on_signal(number: int, _frame: object) -> NoReturn:
    raise SystemExit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
