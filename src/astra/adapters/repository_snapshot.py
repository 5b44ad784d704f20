"""Reads what a repository says about itself from its git objects: nothing of it is executed."""

from pathlib import Path

from astra.adoption.repository_files import (
    LARGEST_TEXT,
    MOST_TEXTS,
    RepositoryFiles,
    is_description,
    is_sample_test,
)
from astra.trusted.changes.files import EXECUTABLE, REGULAR
from astra.trusted.git.git_batch import ObjectReader
from astra.trusted.git.tree_reader import TreeFile, TreeReader

_MOST_TESTS = 20


def read_repository(repository: Path, commit: str) -> RepositoryFiles:
    """Give every path of a commit, and the texts that describe the project, none of them large."""
    files = TreeReader(repository=repository).list_files(commit, sizes=True)
    described = [file for file in files if _is_small(file) and is_description(file.path)]
    tests = [file for file in files if _is_small(file) and is_sample_test(file.path)][:_MOST_TESTS]
    chosen_files = {file.path: file for file in (*_nearest_first(described)[:MOST_TEXTS], *tests)}
    reader = ObjectReader(repository, largest=LARGEST_TEXT)
    try:
        objects = reader.read_many([file.oid for file in chosen_files.values()])
    finally:
        reader.close()
    texts = {
        path: blob.data.decode("utf-8", "replace")
        for path, blob in zip(chosen_files, objects, strict=True)
        if blob is not None and b"\0" not in blob.data
    }
    return RepositoryFiles(paths=frozenset(file.path for file in files), texts=texts)


def _is_small(file: TreeFile) -> bool:
    return file.mode in {REGULAR, EXECUTABLE} and (file.size or 0) <= LARGEST_TEXT


def _nearest_first(files: list[TreeFile]) -> list[TreeFile]:
    return sorted(files, key=lambda file: (file.path.count("/"), file.path))
