"""A release is run with the settings it was proven with, whatever was signed since."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from astra.deployments import views
from astra.deployments.plan import Plan
from deployment_world import PLAN, World


def served_command(world: World) -> tuple[str, ...]:
    assert world.holder.live
    return world.holder.instances[world.holder.live].spec.command


def test_a_rollback_starts_old_code_with_its_old_command(world: World) -> None:
    good = world.deploy("a")
    world.plan = replace(world.plan, command=("serve-anew",), health_path="/other")
    bad = world.finish(world.misbehave(3, "b").id)
    assert (bad.state, world.holder.serves) == ("rolled_back", good.release)
    assert served_command(world) == ("serve",)


def test_a_restart_of_what_is_live_keeps_its_settings_until_it_is_deployed_again(
    world: World,
) -> None:
    world.deploy("a")
    world.plan = replace(world.plan, command=("serve-anew",), state_bytes=77)
    world.holder.die()
    assert world.keep_serving() == ""
    assert served_command(world) == ("serve",)
    assert world.holder.live
    assert world.holder.instances[world.holder.live].spec.state_bytes == 77, "a limit of now"
    world.deploy("b")
    assert served_command(world) == ("serve-anew",)


def test_a_release_whose_settings_differ_is_not_reloaded(world: World) -> None:
    world.plan = replace(world.plan, reload=True)
    world.deploy("a")
    world.plan = replace(world.plan, command=("serve-anew",))
    world.deploy("b")
    assert world.holder.reloads == []
    assert served_command(world) == ("serve-anew",)


def test_a_build_that_is_done_again_after_a_crash_keeps_what_it_sealed_first(world: World) -> None:
    made = world.request("a")
    world.releases.settings[made.release] = world.plan.seal()
    world.plan = replace(world.plan, command=("signed-meanwhile",))
    world.finish(made.id)
    assert served_command(world) == ("serve",)


def test_a_release_of_an_older_astra_runs_with_what_is_signed_now(world: World) -> None:
    done = world.deploy("a")
    release = views.release(world.root.ledger, done.release)
    assert release
    world.plan = replace(world.plan, command=("serve-anew",))
    stage = world.work().stage
    assert stage.plan_for(replace(release, settings="")).command == ("serve-anew",)


texts = st.tuples(st.text(), st.text())
plans = st.builds(
    Plan,
    command=texts,
    port=st.integers(),
    network=texts | st.just("host"),
    state=st.text(),
    secrets=texts,
    listen_ports=st.tuples(st.integers()),
)


@given(plans)
def test_what_is_sealed_comes_back_as_it_was(plan: Plan) -> None:
    restored = replace(PLAN, root="/", keep=9).restore(plan.seal())
    assert restored == replace(plan, keep=9)
