"""What failed is shown as failed, and the same code under two names is one release."""

from dataclasses import replace

from astra.deployments import events, views
from deployment_world import World


def test_a_release_that_was_taken_back_is_failed_and_quarantined_in_every_list(
    world: World,
) -> None:
    good = world.deploy("a")
    bad = world.finish(world.misbehave(3, "b").id)
    world.deploy("c")
    shown = {release.id: release for release in views.releases(world.root.ledger)}
    assert (shown[bad.release].state, shown[bad.release].quarantined) == ("failed", True)
    assert (shown[good.release].state, shown[good.release].quarantined) == ("replaced", False)


def test_a_rollback_names_where_it_went_and_not_where_it_was_to_go(world: World) -> None:
    oldest, newer = world.deploy("a"), world.deploy("b")
    made = world.misbehave(3, "c")
    world.releases.folders[newer.release] = "planted"
    assert world.finish(made.id).rollback_to == oldest.release


def test_a_rollback_never_goes_to_the_same_code(world: World) -> None:
    other = world.deploy("a")
    world.deploy("b")
    twin = world.deploy("b")
    assert world.holder.serves == twin.release
    assert world.requests.choose(None).id == other.release
    bad = world.misbehave(3, "b")
    assert world.finish(bad.id).rollback_to == other.release


def test_identical_releases_do_not_fill_what_is_kept(world: World) -> None:
    first, second = world.deploy("a"), world.deploy("b")
    twins = [world.deploy("c") for _ in range(5)]
    kept = {release.id for release in views.releases(world.root.ledger)}
    assert kept == {first.release, second.release, twins[-1].release}


def test_the_live_commit_is_found_live_unless_its_settings_are_others(world: World) -> None:
    done = world.deploy("a")
    stage = world.work().stage
    twin = stage.find_live_twin("a" * 40)
    assert twin
    assert twin.id == done.release
    assert stage.find_live_twin("b" * 40) is None
    world.plan = replace(world.plan, command=("serve-anew",))
    assert stage.find_live_twin("a" * 40) is None


def test_settings_that_fail_do_not_quarantine_a_commit_that_was_proven(world: World) -> None:
    good = world.deploy("a")
    world.plan = replace(world.plan, command=("serve-badly",))
    bad = world.finish(world.misbehave(3, "a").id)
    assert (bad.state, bad.rollback_to) == ("rolled_back", good.release)
    assert events.QUARANTINED not in world.types()


def test_rollbacks_by_hand_are_counted(world: World) -> None:
    world.deploy("a")
    world.deploy("b")
    world.finish(world.roll_back().id)
    assert views.count_rollbacks_by_hand(world.root.ledger) == 1
