from astra.trusted.policy.manifest import Limits, Manifest
from astra.trusted.sandbox import profile as profiles
from astra.trusted.sandbox.machine import Identity, Machine
from astra.trusted.sandbox.profile import Cover, Profile, compile_profile
from astra.trusted.sandbox.toolchain import Toolchain

MACHINE = Machine(
    architecture="aarch64",
    bwrap="/usr/bin/bwrap",
    links=(("/bin", "usr/bin"),),
    folders=("/usr",),
    etc=("/etc/ssl/certs",),
    identity=Identity(uid=1, gid=1, dropped=False),
)


def words(profile: Profile, **opened: int | str) -> str:
    files = dict.fromkeys((*profile.files, *(c.path for c in profile.covers)), 9)
    sources = {g.path: opened.get(g.path.replace("/", "_"), 7) for g in profile.grants}
    return " ".join(profiles.render_arguments(profile, sources, files))


def compiled(manifest: Manifest, **options: object) -> Profile:
    return compile_profile(manifest, command=("true",), machine=MACHINE, **options)  # type: ignore[arg-type]


def test_an_empty_manifest_grants_nothing_of_the_host_but_programs_and_certificates() -> None:
    spelled = words(compiled(Manifest())).split()
    binds = [spelled[n + 1] for n, word in enumerate(spelled) if word.endswith("bind")]
    assert binds == ["/usr", "/etc/ssl/certs", "/dev/full"]


def test_zeros_cannot_be_mapped_unless_a_control_group_counts() -> None:
    zeros = "--dev-bind /dev/full /dev/zero"
    assert zeros in words(compiled(Manifest()))
    assert zeros not in words(compiled(Manifest(), counted=True))


def test_every_fence_is_there() -> None:
    spelled = words(compiled(Manifest()))
    for fence in (
        *("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"),
        *("--disable-userns", "--assert-userns-disabled", "--die-with-parent", "--new-session"),
        *("--clearenv", "--cap-drop ALL", "--remount-ro /proc", "--remount-ro /dev"),
    ):
        assert fence in spelled


def test_grants_come_by_descriptor_from_the_outside_in() -> None:
    manifest = Manifest(read_paths=("/srv/a", "/srv/a/b/c"), write_paths=("/srv/a/b",))
    spelled = words(compiled(manifest))
    order = ["--ro-bind-fd 7 /srv/a", "--bind-fd 7 /srv/a/b", "--ro-bind-fd 7 /srv/a/b/c"]
    places = [spelled.index(word) for word in order]
    assert places == sorted(places)


def test_a_staged_grant_is_bound_by_its_staged_path() -> None:
    spelled = words(compiled(Manifest(read_paths=("/srv/a",))), _srv_a="/sys/0")
    assert "--ro-bind /sys/0 /srv/a" in spelled


def test_a_guarded_place_is_read_only_over_its_writable_folder() -> None:
    box = compiled(Manifest(write_paths=("/srv/w",)), guarded=("/srv/w/.git",))
    spelled = words(box)
    assert spelled.index("--bind-fd 7 /srv/w ") < spelled.index("--ro-bind-fd 7 /srv/w/.git")


def test_covers_lie_over_all_grants_and_the_root_is_closed_last() -> None:
    box = compiled(
        Manifest(read_paths=("/srv/a",)),
        covers=(Cover(path="/srv/a/.env", folder=False), Cover(path="/srv/a/d", folder=True)),
    )
    spelled = words(box)
    cover = spelled.index("--ro-bind-data 9 /srv/a/.env")
    assert spelled.index("--ro-bind-fd 7 /srv/a ") < cover < spelled.index("--remount-ro / ")
    assert "--tmpfs /srv/a/d --remount-ro /srv/a/d" in spelled


def test_proxy_variables_exist_only_with_domains() -> None:
    closed = compiled(Manifest()).environment
    assert not [name for name in closed if "proxy" in name.lower() or "BASE_URL" in name]
    reaching = compiled(Manifest(network_domains=("example.com",))).environment
    assert reaching["HTTPS_PROXY"] == "http://127.0.0.1:3128"


def test_the_manifest_decides_over_the_environment_and_the_toolchain_comes_first_in_the_path() -> (
    None
):
    tools = Toolchain(search=("/opt/x/bin",))
    box = compiled(Manifest(environment={"LANG": "de"}), toolchain=tools)
    assert box.environment["LANG"] == "de"
    assert box.environment["PATH"].startswith("/opt/x/bin:")


def test_limits_are_data_for_the_inside_and_not_words_around_bwrap() -> None:
    box = compiled(Manifest(limits=Limits(processes=7, memory_bytes=1000, cpu_seconds=3)))
    assert box.limits["NPROC"] == (8, 8)
    assert box.limits["DATA"] == (1000, 1000)
    assert box.limits["CORE"] == (0, 0)
    assert box.limits["CPU"] == (3, 8)


def test_the_working_folder_is_the_first_writable_one_or_home() -> None:
    assert compiled(Manifest()).workdir == "/home/sandbox"
    assert compiled(Manifest(write_paths=("/srv/w",))).workdir == "/srv/w"
    assert compiled(Manifest(), workdir="/tmp").workdir == "/tmp"
