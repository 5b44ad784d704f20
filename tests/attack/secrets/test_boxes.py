"""Agent code in a box finds no secret file and no secret blob, whichever kind of box it is."""

from pathlib import Path

import pytest

from astra.bootstrap.runtime import Runtime
from astra.trusted.calls.counter import Request
from astra.trusted.policy.call import Actor, Role
from astra.trusted.policy.manifest import Manifest
from astra.trusted.sandbox.ports import BoxRequest
from secret_target import CANARY, OLD, PATTERNED, SECRETS

pytestmark = pytest.mark.xdist_group("sandbox")
STORY = "cor_0000000000000001"
LOOK_EVERYWHERE = f"""
grep -rIl {CANARY} "$1" 2>/dev/null
cd "$1" && git -c safe.directory='*' cat-file --batch-all-objects --batch 2>/dev/null \
  | grep -a {CANARY}
for name in {" ".join((*SECRETS, OLD))}; do
  git -c safe.directory='*' show "HEAD:$name" 2>/dev/null
  git -c safe.directory='*' show "HEAD~1:$name" 2>/dev/null
done
true
"""


def run(runtime: Runtime, *command: str) -> str:
    done = runtime.counter.call(
        Request(
            name="run_in_sandbox",
            arguments={"command": list(command)},
            actor=Actor(role=Role.AGENT, name="test", door="mcp"),
            correlation=STORY,
        )
    )
    assert done["exit_code"] == 0, done
    return done["stdout"] + done["stderr"]


def in_clone(runtime: Runtime, script: str) -> str:
    return run(runtime, "sh", "-c", script, "sh", str(runtime.settings.code_repo))


def test_the_agents_box_finds_no_secret_in_its_clone_or_its_history(runtime: Runtime) -> None:
    assert PATTERNED in in_clone(runtime, "cd $1; git -c safe.directory='*' ls-files")
    said = in_clone(runtime, LOOK_EVERYWHERE)
    assert [line for line in said.splitlines() if PATTERNED not in line] == []


def test_ordinary_files_and_blobs_under_an_ordinary_name_stay(runtime: Runtime) -> None:
    said = in_clone(runtime, "cd $1; cat conf/app.toml public.txt; ls src/token")
    assert said == "a = 1\nboth\nlexer.py\n"


def test_a_withheld_file_does_not_look_deleted_and_work_goes_on(runtime: Runtime) -> None:
    script = """cd $1; export HOME=/tmp; git config --global safe.directory '*'
    git status --short; cp -a .git /tmp/git; export GIT_DIR=/tmp/git GIT_WORK_TREE=$1
    echo 'a = 2' > conf/app.toml; git add -A; git -c user.name=A -c user.email=a@b commit -qm more
    git show --stat --format= HEAD; git checkout -q -b back HEAD~2 && git checkout -q trunk
    git --git-dir=/tmp/git ls-tree -r --name-only HEAD conf; echo 'a = 1' > conf/app.toml"""
    said = in_clone(runtime, script)
    assert said.splitlines() == [
        " conf/app.toml | 2 +-",
        " 1 file changed, 1 insertion(+), 1 deletion(-)",
        *("conf/app.toml", "conf/chain.pem", "conf/public.key", "conf/server.key"),
    ]


def test_edits_lying_around_are_imported_without_deleting_what_was_withheld(
    runtime: Runtime,
) -> None:
    file = runtime.settings.code_repo / "conf" / "app.toml"
    before = file.read_text()
    file.write_text("a = 3\n")
    try:
        loose = runtime.changes.proposals.loose_edits(actor="agent:test", correlation=STORY)
    finally:
        file.write_text(before)
    assert loose is not None
    assert [item.path for item in loose.files] == ["conf/app.toml"]


@pytest.mark.parametrize("name", [*SECRETS, "vault/.git/config", "bare/objects/x", "x.kdbx"])
def test_a_granted_folder_elsewhere_shows_no_secret_and_no_git_directory(
    runtime: Runtime, tmp_path: Path, name: str
) -> None:
    for inner in (name, "bare/HEAD", "bare/refs/x", "page.txt"):
        (tmp_path / inner).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / inner).write_text(CANARY)
    for granted in (str(tmp_path), f"{tmp_path}/{name}"):
        manifest = Manifest(read_paths=(granted,))
        done = runtime.sandbox.run(
            BoxRequest(
                command=("grep", "-rl", CANARY, str(tmp_path)),
                manifest=manifest,
                workdir="/tmp",
                actor="agent:test",
                correlation=STORY,
            )
        )
        assert name not in done.stdout.decode()


def test_a_test_run_finds_every_secret_empty_and_its_report_names_them(runtime: Runtime) -> None:
    head = runtime.change_parts.repo.head()
    with runtime.change_parts.workspaces.open(head) as files:
        done = runtime.sandbox.run(
            BoxRequest(
                command=("sh", "-c", f"grep -rl {CANARY} .; wc -c < conf/server.key; git log 2>&1"),
                workdir=files.place,
                workspace=files,
                actor="agent:test",
                correlation=STORY,
            )
        )
    lines = done.stdout.decode().splitlines()
    assert lines[:2] == [f"./{PATTERNED}", "0"]
    assert "not a git repository" in lines[2]
    report = runtime.changes.bench.tests.run(
        commit=head,
        tests_from=None,
        label="x",
        actor="agent:test",
        correlation=STORY,
        show=lambda _chunk: None,
    )
    assert set(report.withheld) == {*SECRETS, "conf/public.key"}


def test_what_a_box_prints_is_masked_before_the_agent_reads_it(runtime: Runtime) -> None:
    token = "ghp_" + "a1B2" * 9
    assert run(runtime, "printf", "%s", f"{token[:8]}", token[8:]).count(token) == 0
