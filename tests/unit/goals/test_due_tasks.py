"""What is due, for one goal and for many: enough for every worker, and none left out."""

from collections import Counter

from astra.goals.due_tasks import MOST_OF_A_GOAL, MOST_OFFERED
from astra.goals.running import GOALS_AT_ONCE
from goals_in_memory import GoalsInMemory

WIDTH = 30
TASKS = ", ".join(
    f'{{ id = "n{number}", task = "CHECK", arguments = {{ command = "x" }} }}'
    for number in range(WIDTH)
)
WIDE = f'[[methods]]\nname = "wide"\ntask = "top"\nsubtasks = [{TASKS}]'


def start_goals(count: int) -> tuple[GoalsInMemory, list[str]]:
    world = GoalsInMemory(WIDE)
    goals = [world.adopted(text=f"goal {number}").id for number in range(count)]
    for item in world.runner.list_due():
        world.runner.run(item)
    return world, goals


def count_offers(world: GoalsInMemory) -> Counter[str]:
    return Counter(item.goal for item in world.runner.list_due() if item.action == "do")


def test_one_goal_alone_is_offered_to_every_worker() -> None:
    world, (goal,) = start_goals(1)
    assert count_offers(world) == {goal: MOST_OF_A_GOAL}


def test_of_many_goals_each_is_offered_and_the_first_ones_to_every_worker() -> None:
    world, goals = start_goals(GOALS_AT_ONCE)
    offers = count_offers(world)
    assert set(offers) == set(goals)
    assert max(offers.values()) == MOST_OF_A_GOAL
    assert sum(offers.values()) <= MOST_OFFERED + GOALS_AT_ONCE


def test_goals_are_offered_in_their_order_and_every_task_is_done() -> None:
    world, goals = start_goals(3)
    order = [item.goal for item in world.runner.list_due()]
    assert sorted(order, key=goals.index) == order
    world.run_all(go_on=True)
    assert [set(world.states(world.book.get(goal)).values()) for goal in goals] == [
        {"succeeded"}
    ] * 3
    assert sum(world.performer.begun.values()) == 3 * WIDTH


def test_what_another_daemon_began_is_settled_and_what_this_one_does_is_left_alone() -> None:
    world, (goal,) = start_goals(1)
    task = world.book.tasks(goal)[0]
    claim = world.runner._claims.claim(task)
    assert claim is not None
    assert [item.action for item in world.runner.list_due() if item.node == task.id] == ["do"]
    other = world.new_runner()
    assert [item.action for item in other.list_due() if item.node == task.id] == ["settle"]
