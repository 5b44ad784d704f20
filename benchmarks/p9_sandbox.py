"""P9: what a box costs, against bare bwrap with the same mounts and against raw pytest.

Prints one JSON object a line. Measure and reference take turns in the same run, so that a busy
machine slows both. Each is judged twice: by the time that the fastest tenth of the rounds stays
below, since what else runs on the machine only ever adds time, and by the median, which says how it
feels on a busy machine.
"""

import contextlib
import io
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import measuring
from astra.trusted.policy.manifest import Manifest
from astra.trusted.sandbox import machine, staging, threshold, toolchain
from astra.trusted.sandbox.launch import Box, run
from astra.trusted.sandbox.profile import compile_profile, render_arguments

ROUNDS = 100
QUIET = {
    "PATH": "/usr/bin:/bin",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
}
PYTEST_ROUNDS = 20
TESTS = "\n".join(f"def test_{n}():\n    assert sum(range({n})) >= 0\n" for n in range(50))


def main() -> None:
    quick = measuring.is_quick()
    starts, test_runs = (5, 2) if quick else (ROUNDS, PYTEST_ROUNDS)
    with _yard() as (work, data_root):
        tools = toolchain.find(Path(sys.executable))
        manifest = Manifest(write_paths=(str(work),))
        start = Box(command=("/usr/bin/true",), manifest=manifest)
        reach = Box(
            command=("/usr/bin/true",),
            manifest=Manifest(write_paths=(str(work),), network_domains=("example.com",)),
        )
        words = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(work))
        quiet = replace(manifest, environment={k: v for k, v in QUIET.items() if k != "PATH"})
        tests = Box(command=words, manifest=quiet, toolchain=tools)

        def boxed(box: Box) -> Callable[[], None]:
            return lambda: _expect(run(box, data_root=data_root).succeeded)

        bare = _bare(manifest)
        _measure("P9 sandbox start", boxed(start), bare, target=1.3, rounds=starts)
        _measure("P9 sandbox start with proxy", boxed(reach), bare, target=None, rounds=starts)
        raw = _raw(words)
        _measure("P9 small pytest", boxed(tests), raw, target=1.1, rounds=test_runs)


def _measure(
    name: str,
    measured: Callable[[], None],
    reference: Callable[[], None],
    *,
    target: float | None,
    rounds: int,
) -> None:
    for work in (measured, reference):
        work()
    ours, theirs = [], []
    for _ in range(rounds):
        theirs.append(_seconds(reference))
        ours.append(_seconds(measured))
    for title, place in ((name, rounds // 10), (f"{name}, median", rounds // 2)):
        _print(title, sorted(ours)[place], sorted(theirs)[place], target)


def _print(name: str, value: float, against: float, target: float | None) -> None:
    limit = None if target is None else measuring.at_most_times(target)
    measuring.report(f"{name} (ms)", value * 1000, against * 1000, limit)


def _bare(manifest: Manifest) -> Callable[[], None]:
    """Give bwrap the same namespaces and mounts, and nothing else of the profile.

    It starts as the same uid and by the same cheap way, from a thread that is the boxes' user.
    """
    host = machine.inspect_machine()
    profile = compile_profile(manifest, command=("/usr/bin/true",), machine=host)
    left_out = {"--disable-userns", "--assert-userns-disabled"}

    def spawn() -> None:
        with contextlib.ExitStack() as stack:
            stack.enter_context(threshold.act_as(host.identity))
            files = {
                path: _descriptor(text, stack).fileno() for path, text in profile.files.items()
            }
            sources = {path: path for path in manifest.write_paths}
            words = [w for w in render_arguments(profile, sources, files) if w not in left_out]
            done = subprocess.run(
                [host.bwrap, *words, "/usr/bin/true"],
                capture_output=True,
                env={},
                stdin=subprocess.DEVNULL,
                pass_fds=tuple(files.values()),
                check=False,
            )
            _expect(done.returncode == 0)

    return lambda: threshold.run_in_own_thread(spawn)


def _raw(words: tuple[str, ...]) -> Callable[[], None]:
    def work() -> None:
        done = subprocess.run(words, capture_output=True, env=QUIET, check=False)
        _expect(done.returncode == 0)

    return work


def _descriptor(text: str, stack: contextlib.ExitStack) -> io.FileIO:
    file = stack.enter_context(io.FileIO(os.memfd_create("bench"), "r+"))
    file.write(text.encode())
    file.seek(0)
    return file


@contextlib.contextmanager
def _yard() -> Iterator[tuple[Path, Path]]:
    with tempfile.TemporaryDirectory(prefix="astra-bench-") as name:
        folder = Path(name).resolve()
        folder.chmod(0o755)
        (folder / "work").mkdir()
        (folder / "work" / "test_small.py").write_text(TESTS)
        staging.hand_over(folder / "work", machine.inspect_machine().identity)
        yield folder / "work", folder / "data"


def _seconds(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _expect(held: bool) -> None:  # noqa: FBT001
    if not held:
        sys.exit("a run failed, so its time says nothing")


if __name__ == "__main__":
    main()
