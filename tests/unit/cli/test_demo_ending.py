"""How the demo hears signals: at once, or when what may not be broken off is over."""

import signal

import pytest

from astra.interfaces.cli.demo import Ending


@pytest.mark.parametrize(
    ("number", "raised"),
    [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit), (signal.SIGHUP, SystemExit)],
)
def test_a_signal_ends_it_at_once(number: int, raised: type[BaseException]) -> None:
    with pytest.raises(raised) as ended:
        Ending().note(number, None)
    assert ended.value.args in {(), (128 + number,)}


def test_one_that_comes_while_it_is_held_counts_at_the_end() -> None:
    ending, done = Ending(), []

    def talk() -> None:
        with ending.hold():
            ending.note(signal.SIGHUP, None)
            done.append("all of it")

    with pytest.raises(SystemExit, match=str(128 + signal.SIGHUP)):
        talk()
    assert done == ["all of it"]


def test_it_counts_also_where_what_held_it_failed() -> None:
    ending = Ending()

    def talk() -> None:
        with ending.hold():
            ending.note(signal.SIGINT, None)
            raise OSError

    with pytest.raises(KeyboardInterrupt):
        talk()


def test_a_second_one_does_not_wait() -> None:
    ending, done = Ending(), []

    def talk() -> None:
        with ending.hold():
            ending.note(signal.SIGINT, None)
            ending.note(signal.SIGINT, None)
            done.append("never")

    with pytest.raises(KeyboardInterrupt):
        talk()
    assert not done


def test_one_that_comes_while_it_cleans_up_waits_for_all_of_that() -> None:
    ending, done = Ending(), []

    def clean_up() -> None:
        with ending.hold():
            with ending.hold():
                ending.note(signal.SIGHUP, None)
            done.append("all of it")

    with pytest.raises(SystemExit):
        ending.note(signal.SIGHUP, None)
    with pytest.raises(SystemExit):
        clean_up()
    assert done == ["all of it"]


def test_without_a_signal_it_goes_on() -> None:
    with Ending().hold():
        pass
