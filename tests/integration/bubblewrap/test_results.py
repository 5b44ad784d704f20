import contextlib
from pathlib import Path
from typing import Any

import pytest

from astra.trusted.kernel.errors import NotFound
from astra.trusted.sandbox.results import UnsafeResult, read_result


def test_a_plain_file_below_the_folder_is_read(yard: Any) -> None:
    assert yard.sh("mkdir -p out && echo fine > out/report").succeeded
    assert read_result(yard.work, "out/report") == b"fine\n"


@pytest.mark.parametrize(
    "plant",
    [
        "ln -s /etc/passwd report",
        "ln -s ../secret report",
        "mkfifo report",
        "mkdir report",
        "truncate -s 100M report",
        "ln -s /proc/self/environ report",
        "rm -rf out; ln -s / out; ln -s out/etc/passwd report",
        "python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('report')\"",
    ],
)
def test_a_planted_trap_is_refused_and_does_not_block(yard: Any, plant: str) -> None:
    assert yard.sh(plant).succeeded
    with pytest.raises(UnsafeResult) as refusal:
        read_result(yard.work, "report")
    assert refusal.value.next_step


@pytest.mark.parametrize("name", ["../data", "/etc/passwd", "out/../../data/var/x", ".."])
def test_a_name_that_leads_out_is_refused(yard: Any, name: str) -> None:
    (yard.work / "out").mkdir()
    (yard.data_root / "var" / "x").write_text("secret")
    with pytest.raises(UnsafeResult):
        read_result(yard.work, name)


def test_a_link_in_the_middle_of_the_way_is_refused(yard: Any) -> None:
    assert yard.sh("mkdir real; echo x > real/report; ln -s real out").succeeded
    with pytest.raises(UnsafeResult):
        read_result(yard.work, "out/report")


def test_a_missing_result_is_said_to_be_missing(yard: Any) -> None:
    with pytest.raises(NotFound):
        read_result(yard.work, "report")


def test_reading_results_leaves_no_descriptor_open(yard: Any) -> None:
    (yard.work / "report").write_text("x")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for name in ("report", "none", ".."):
        with contextlib.suppress(UnsafeResult, NotFound):
            read_result(yard.work, name)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
