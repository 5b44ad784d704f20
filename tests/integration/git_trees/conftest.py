import subprocess

import pytest

from raw_repository import RawRepository


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> RawRepository:
    path = tmp_path_factory.mktemp("trees") / "git"
    subprocess.run(["git", "init", "--quiet", "--bare", "-b", "main", str(path)], check=True)
    return RawRepository(path)
