"""The rules of a deployment, from a request to a release that counts as good, or back."""

from dataclasses import replace

import pytest

from astra.deployments import events, views
from astra.trusted.kernel.errors import AstraError
from deployment_world import World
from holding import CRASHES, IMPERSONATED, REFUSED, SILENT


def test_a_healthy_release_is_built_switched_to_watched_and_settled(world: World) -> None:
    done = world.deploy()
    assert done.state == "settled"
    assert world.holder.serves == done.release == world.releases.current
    assert world.types() == [
        events.REQUESTED,
        events.BUILT,
        events.SWITCHED,
        events.SETTLED,
    ]
    assert world.pace.now >= 10


def test_a_release_is_named_by_time_and_commit(world: World) -> None:
    assert world.deploy("b").release == f"20260301T120100Z-{'b' * 12}"


def test_two_releases_of_one_second_have_two_names(world: World) -> None:
    first = world.deploy()
    second = world.requests.deploy(None, actor="agent:test")
    assert first.release != second.release


def test_what_was_replaced_is_backed_up_and_drained(world: World) -> None:
    first = world.deploy("a")
    second = world.deploy("b")
    assert second.replaced == first.release
    assert second.backup == f"/backups/{first.release}"
    assert world.holder.retired == [first.release]


@pytest.mark.parametrize("behaviour", [CRASHES, SILENT])
def test_a_release_that_does_not_come_up_is_blamed_and_the_old_one_serves(
    world: World, behaviour: str
) -> None:
    good = world.deploy("a")
    bad = world.finish(world.misbehave(behaviour, "b").id)
    assert bad.state == "failed"
    assert world.holder.serves == good.release
    assert views.quarantine_reason(world.root.ledger, "b" * 40)
    assert list(world.holder.instances) == [world.holder.live]


def test_a_release_whose_probes_another_one_takes_fails_without_blame(world: World) -> None:
    good = world.deploy("a")
    failed = world.finish(world.misbehave(IMPERSONATED, "b").id)
    assert (failed.state, "another process" in str(failed.reason)) == ("failed", True)
    assert world.holder.serves == good.release
    assert events.QUARANTINED not in world.types()


def test_a_release_has_as_long_to_start_as_the_operator_signed(world: World) -> None:
    world.plan = replace(world.plan, start_seconds=300)
    slow = world.finish(world.misbehave(SILENT, "b").id)
    assert world.pace.now >= 300
    assert "not healthy after 300 s" in str(slow.reason)


def test_a_release_that_dies_in_its_watch_is_taken_back(world: World) -> None:
    good = world.deploy("a")
    bad = world.finish(world.misbehave(3, "b").id)
    assert bad.state == "rolled_back"
    assert bad.rollback_to == good.release == world.holder.serves
    assert "crashed" in bad.reason
    assert views.quarantine_reason(world.root.ledger, "b" * 40)
    assert world.types()[-2:] == [events.QUARANTINED, events.ROLLED_BACK]


def test_what_is_not_the_releases_fault_is_not_held_against_its_commit(world: World) -> None:
    world.deploy("a")
    refused = world.finish(world.misbehave(REFUSED, "b").id)
    assert (refused.state, "secret" in refused.reason) == ("failed", True)
    world.releases.trouble = AstraError("the disk is full", next_step="free some")
    full = world.deploy("c")
    assert (full.state, full.reason) == ("failed", "the disk is full; free some")
    assert events.QUARANTINED not in world.types()


def test_a_first_release_that_fails_its_watch_has_nothing_to_go_back_to(world: World) -> None:
    done = world.finish(world.misbehave(3, "a").id)
    assert done.state == "rollback_failed"
    assert world.types()[-1] == events.ROLLBACK_FAILED


def test_a_rollback_passes_over_a_release_that_was_written_to(world: World) -> None:
    oldest, newer = world.deploy("a"), world.deploy("b")
    world.releases.folders[newer.release] = "planted"
    world.finish(world.misbehave(3, "c").id)
    assert world.holder.serves == oldest.release


def test_when_no_good_release_comes_up_that_is_said(world: World) -> None:
    good = world.deploy("a")
    made = world.misbehave(3, "b")
    world.releases.folders[good.release] = "planted"
    done = world.finish(made.id)
    assert done.state == "rollback_failed"


def test_a_rollback_by_hand_and_one_back_again(world: World) -> None:
    first, second = world.deploy("a"), world.deploy("b")
    assert world.finish(world.roll_back().id).release == first.release == world.holder.serves
    assert world.finish(world.roll_back().id).release == second.release == world.holder.serves


def test_a_rollback_to_a_release_that_fails_now_leaves_what_serves(world: World) -> None:
    first, second = world.deploy("a"), world.deploy("b")
    world.holder.behaviours[first.release] = CRASHES
    done = world.finish(world.roll_back(first.release).id)
    assert done.state == "failed"
    assert world.holder.serves == second.release
    assert not views.quarantine_reason(world.root.ledger, "a" * 40)


def test_a_watch_that_fails_now_and_then_is_not_a_failure(world: World) -> None:
    made = world.request()
    looks = iter([True, True, False, True] + [True] * 100)
    check = world.holder.check
    world.holder.check = lambda *words, **more: (  # type: ignore[method-assign]
        check(*words, **more) if next(looks) else check("nobody", "/", seconds=1)
    )
    assert world.finish(made.id).state == "settled"


def test_a_watch_that_fails_every_other_time_is_one(world: World) -> None:
    world.deploy("a")
    made, looks = world.request("b"), iter([True] + [True, False] * 100)
    check = world.holder.check
    world.holder.check = lambda *words, **more: (  # type: ignore[method-assign]
        check(*words, **more) if next(looks) else check("nobody", "/", seconds=1)
    )
    done = world.finish(made.id)
    assert "of" in done.reason
    assert done.state in {"rolled_back", "rollback_failed"}


def test_a_health_command_has_to_be_well_too(world: World) -> None:
    world.plan = replace(world.plan, health_command=("check",))
    assert world.deploy("a").state == "settled"
    assert 1 < world.command.runs < 10, "not at every look: it costs a box each time"
    world.command.well = False
    done = world.deploy("b")
    assert (done.state, "the command said so" in done.reason) == ("failed", True)


def test_a_clock_that_jumps_shortens_no_watch(world: World) -> None:
    made = world.request()
    work = world.work()
    work.advance()
    world.root.clock.advance(days=400)
    work.advance()
    assert world.now(made.id).state == "switched"
    before = world.pace.now
    work.advance()
    assert world.pace.now - before >= 10


def test_a_clock_that_jumps_back_confuses_no_release(world: World) -> None:
    """Names go on in order, and what came last is what is gone back to, and removed last."""
    made = [world.deploy("a")]
    world.root.clock.advance(days=-30)
    made += [world.deploy(commit) for commit in "bcd"]
    names = [deployment.release for deployment in made]
    assert names == sorted(names)
    assert set(world.releases.folders) == set(names[1:]), "the oldest was removed, and no other"
    assert world.finish(world.roll_back().id).release == names[2]
    assert world.finish(world.roll_back().id).release == names[3]


def test_a_release_that_was_written_to_after_it_was_built_is_never_switched_to(
    world: World,
) -> None:
    good = world.deploy("a")
    made, work = world.request("b"), world.work()
    assert work.advance()
    assert world.now(made.id).state == "built"
    world.releases.folders[made.release] = "planted"
    done = world.finish(made.id)
    assert (done.state, "somebody wrote to it" in done.reason) == ("failed", True)
    assert world.holder.serves == good.release


def test_a_rollback_that_came_by_itself_is_not_undone_by_one_by_hand(world: World) -> None:
    older, good = world.deploy("a"), world.deploy("b")
    bad = world.finish(world.misbehave(3, "c").id)
    assert (bad.state, world.holder.serves) == ("rolled_back", good.release)
    assert world.requests.choose(None).id == older.release, "never the one that failed"


def test_nothing_is_decided_while_the_daemon_leaves(world: World) -> None:
    made = world.request()
    work = world.work()
    work.advance()
    work.advance()
    world.pace.leaving = True
    assert work.advance() is False
    assert world.now(made.id).state == "switched"
    world.pace.leaving = False
    assert world.finish(made.id).state == "settled"


def test_nothing_is_decided_while_work_is_stopped(world: World) -> None:
    made = world.request()
    work = world.work()
    work.advance()
    work.advance()
    world.stopped = True
    world.holder.die()
    assert work.advance() is False
    assert world.keep_serving() == ""
    world.stopped = False
    assert world.finish(made.id).state == "settled"


def test_a_holder_that_dies_in_the_watch_is_not_the_releases_fault(world: World) -> None:
    made = world.request()
    work = world.work()
    work.advance()
    work.advance()
    world.holder.die()
    assert world.finish(made.id).state == "settled"
    assert world.holder.serves == made.release


def test_a_holder_that_dies_again_and_again_ends_the_attempt_without_blame(world: World) -> None:
    made = world.request()
    check = world.holder.check

    def die(*words: str, **more: float) -> object:
        world.holder.die()
        return check(*words, **more)

    world.holder.check = die  # type: ignore[method-assign]
    assert world.finish(made.id).state == "failed"
    assert events.QUARANTINED not in world.types()


def test_an_app_that_went_away_is_brought_back(world: World) -> None:
    done = world.deploy()
    world.holder.die()
    assert world.keep_serving() == ""
    assert world.holder.serves == done.release
    assert world.types()[-1] == events.RESTARTED
    assert world.keep_serving() == ""
    assert world.types().count(events.RESTARTED) == 1


def test_an_app_that_cannot_be_brought_back_is_said_once(world: World) -> None:
    done = world.deploy()
    world.holder.die()
    world.releases.folders[done.release] = "planted"
    for _ in range(3):
        assert "somebody wrote to it" in world.keep_serving()
    assert world.types().count(events.NOT_SERVING) == 1


def test_only_so_many_releases_are_kept_and_never_less_than_what_serves(world: World) -> None:
    made = [world.deploy(letter) for letter in "abcde"]
    kept = {release.id for release in views.releases(world.root.ledger)}
    assert kept == {deployment.release for deployment in made[2:]} == set(world.releases.folders)


def test_pages_of_deployments_and_releases_join_up(world: World) -> None:
    made = [world.deploy(letter) for letter in "abcde"]
    ledger = world.root.ledger
    newest = [deployment.id for deployment in reversed(made)]
    first, behind = views.deployment_page(ledger, limit=3)
    second, end = views.deployment_page(ledger, limit=3, before=behind)
    assert [each.id for each in (*first, *second)] == newest
    assert (behind, end) == (newest[2], None)
    some, cursor = views.release_page(ledger, every=True, limit=4)
    rest, over = views.release_page(ledger, every=True, limit=4, before=cursor)
    assert [*some, *rest] == views.releases(ledger, every=True)
    assert (len(some), len(rest), over) == (4, 1, None)


def test_the_last_good_release_is_kept_however_many_failed_since(world: World) -> None:
    good = world.deploy("a")
    for letter in "bcdef":
        world.finish(world.misbehave(3, letter).id)
    world.deploy("0")
    assert good.release in world.releases.folders


def test_the_export_is_true_as_of_the_sequence_it_names(world: World) -> None:
    done = world.deploy()
    head = world.root.ledger.head()
    assert world.releases.status["sequence"] == head.sequence
    assert world.releases.status["live"]["id"] == done.release
    assert world.releases.status["deployment"]["state"] == "settled"


def test_a_rollback_that_found_nothing_good_goes_on_trying(world: World) -> None:
    good = world.deploy("a")
    made = world.misbehave(3, "b")
    intact = world.releases.folders[good.release]
    world.releases.folders[good.release] = "planted"
    assert world.finish(made.id).state == "rollback_failed"
    assert good.release in world.retry_rollback()
    world.releases.folders[good.release] = intact
    assert world.retry_rollback() == ""
    assert (world.now(made.id).state, world.holder.serves) == ("rolled_back", good.release)
    assert world.retry_rollback() == ""
    assert world.types().count(events.ROLLBACK_FAILED) == 1


def test_what_stands_on_top_of_a_failed_commit_is_not_blamed_for_it(world: World) -> None:
    world.deploy("a")
    world.finish(world.misbehave(3, "b").id)
    world.approved.verdict = {"contains": ("b" * 40,), "despite": ("b" * 40,)}
    on_top = world.finish(world.misbehave(3, "c").id)
    assert on_top.state == "rolled_back"
    assert views.quarantined_commits(world.root.ledger) == ("b" * 40,)
