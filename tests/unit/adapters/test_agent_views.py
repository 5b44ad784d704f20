"""Views that are swapped while others look: the newest configuration is what stays."""

import threading
from typing import Any, cast

from astra.adapters.agent_views import CurrentSource, CurrentViews, Views


class Source:
    def __init__(self, name: str) -> None:
        self.name = name

    def list(self, **_where: Any) -> str:
        return self.name


def views_of(name: str) -> Views:
    return Views(
        source=cast("Any", Source(name)), files=cast("Any", None), read_scope=cast("Any", 0)
    )


def test_a_renewal_that_takes_long_does_not_undo_a_later_one() -> None:
    names, entered, go_on = ["first"], threading.Event(), threading.Event()

    def make() -> Views:
        name = names[-1]
        if name == "slow":
            entered.set()
            go_on.wait(60)
        return views_of(name)

    views = CurrentViews(make)
    names.append("slow")
    slow = threading.Thread(target=views.renew)
    slow.start()
    assert entered.wait(60)
    names.append("newest")
    newest = threading.Thread(target=views.renew)
    newest.start()
    assert views.current.source.list() == "first", "nobody who looks waits for a renewal"
    go_on.set()
    slow.join()
    newest.join()
    assert CurrentSource(views).list() == "newest"
