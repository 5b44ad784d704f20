"""A plan's grants as the box gets them: files for globs, nothing for what is not there."""

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from astra.adapters.boxes.plan_boxes import PlanBoxes
from astra.adapters.boxes.sandbox import Sandbox
from astra.testing import MemoryLedger
from astra.trusted.files.data_root import DataRoot
from astra.trusted.kernel.errors import Refused
from astra.trusted.policy.manifest import Manifest
from plans_at_work import PlansAtWork


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    made = tmp_path / "code-repo"
    for name in ("docs/a.md", "docs/b.md", "docs/secret.key", "docs/sub/c.md", "src/x.py"):
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text(name)
    (made / "docs" / "link.md").symlink_to("/etc/hostname")
    return made


def box(
    repo: Path, *, may_write: bool = True, read: tuple[str, ...] = (), write: tuple[str, ...] = ()
) -> Manifest:
    work = PlansAtWork()
    plan = work.approved(read_paths=[*read], write_paths=[*write])
    work.run(plan, most=2)
    boxes = PlanBoxes(
        agent_id=plan.id,
        sandbox=cast("Any", None),
        contracts=replace(work.gate.planning.contracts, code_repo=str(repo)),
        may_write_code=lambda: may_write,
    )
    return boxes.make_manifest(10)


def names(repo: Path, paths: tuple[str, ...]) -> list[str]:
    return [str(Path(path).relative_to(repo)) for path in paths]


def test_a_glob_becomes_the_files_it_matches_and_never_their_folder(repo: Path) -> None:
    made = box(repo, read=("docs/*.md",))
    assert names(repo, made.read_paths) == ["docs/a.md", "docs/b.md"]


def test_a_folder_is_granted_as_a_folder(repo: Path) -> None:
    assert names(repo, box(repo, read=("docs",)).read_paths) == ["docs"]


def test_what_does_not_exist_is_not_there(repo: Path) -> None:
    assert box(repo, read=("nothing", "none/*.md")).read_paths == ()


def test_while_code_writing_is_off_the_clone_is_read_only(repo: Path) -> None:
    on = box(repo, write=("src",))
    assert (names(repo, on.write_paths), on.read_paths) == (["src"], ())
    off = box(repo, write=("src",), may_write=False)
    assert (off.write_paths, names(repo, off.read_paths)) == ((), ["src"])


def test_a_glob_that_matches_too_much_is_refused_and_not_widened(repo: Path) -> None:
    for number in range(70):
        (repo / "docs" / f"{number}.md").write_text("x")
    with pytest.raises(Refused, match="a box takes 64"):
        box(repo, read=("docs/*.md",))


def test_a_plan_that_does_not_work_has_nothing(repo: Path) -> None:
    work = PlansAtWork()
    plan = work.approved()
    assert work.gate.planning.contracts.permissions(plan.id).as_dict() == {
        kind: []
        for kind in ("network_domains", "read_paths", "write_paths", "skills", "destructive_ops")
    }


def test_ending_the_boxes_of_a_plan_that_has_none_ends_nothing(tmp_path: Path) -> None:
    sandbox = Sandbox(DataRoot(tmp_path), MemoryLedger())
    assert sandbox.end("plan_00000000000000aa", "its plan was ended") == 0
