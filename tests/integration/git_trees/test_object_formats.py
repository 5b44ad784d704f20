"""Changes are made in repositories of either kind of object names."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from astra.trusted.changes.files import FileState
from astra.trusted.git.change_repo import GitChangeRepo, Identity
from changing import git


@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_a_file_is_deleted_and_another_one_made(tmp_path: Path, form: str) -> None:
    git(tmp_path, "init", "-q", "-b", "main", f"--object-format={form}")
    (tmp_path / "old.txt").write_text("old\n")
    (tmp_path / "stays.txt").write_text("stays\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "-c", "user.name=T", "-c", "user.email=t@localhost", "commit", "-qm", "first")
    base = git(tmp_path, "rev-parse", "HEAD").strip()
    repo = GitChangeRepo(tmp_path / ".git", "main", Identity(name="T", email="t@localhost"))
    try:
        made = repo.commit(
            base=base,
            result={"old.txt": None, "new.txt": FileState(content=b"new\n", mode="100644")},
            message="Agent modification: swap",
            when=datetime(2026, 3, 1, tzinfo=UTC),
        )
        assert set(repo.tree(made.id)) == {"stays.txt", "new.txt"}
        assert len(made.id) == len(base) == {"sha1": 40, "sha256": 64}[form]
    finally:
        repo.close()
