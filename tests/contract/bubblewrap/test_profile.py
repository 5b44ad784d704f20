"""The profile is data; bwrap itself says whether every word of it is understood."""

import resource
import subprocess

from astra.trusted.policy.manifest import Manifest
from astra.trusted.sandbox import machine, profile
from astra.trusted.sandbox.profile import Cover, compile_profile


def test_every_option_that_a_profile_spells_is_known_to_bwrap() -> None:
    host = machine.inspect_machine()
    described = compile_profile(
        Manifest(read_paths=("/srv/in",), write_paths=("/srv/out",)),
        command=("true",),
        machine=host,
        covers=(Cover(path="/srv/in/.env", folder=False), Cover(path="/srv/in/d", folder=True)),
    )
    files = dict.fromkeys((*described.files, "/srv/in/.env"), 5)
    words = profile.render_arguments(described, {"/srv/in": 3, "/srv/out": 4}, files)
    known = subprocess.run([host.bwrap, "--help"], capture_output=True, text=True, check=True)
    options = {word for word in words if word.startswith("--")}
    assert options <= set(known.stdout.split())
    assert {"--json-status-fd", "--block-fd", "--seccomp", "--args"} <= set(known.stdout.split())


def test_every_limit_that_a_profile_names_is_known_to_the_kernel() -> None:
    described = compile_profile(Manifest(), command=("true",), machine=machine.inspect_machine())
    for name in described.limits:
        assert resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))
