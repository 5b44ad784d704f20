"""Where on the dashboard a notification leads: the page of what it is about."""

_PAGES = {
    "apr": "approvals/{id}",
    "sch": "schedules/{id}",
    "plan": "plans/{id}",
    "agent": "plans/{id}",
    "chg": "changes/{id}",
    "dep": "releases",
    "rel": "releases",
    "alert": "alerts",
}


def find_page(identifier: str) -> str:
    """Name the page about an id, below the address of the dashboard; the inbox for what has none.

    >>> find_page("apr_00c0ffee00c0ffee")
    'approvals/apr_00c0ffee00c0ffee'
    >>> find_page("")
    ''
    """
    return _PAGES.get(identifier.partition("_")[0], "").format(id=identifier)


def make_link(page: str, identifier: str) -> str:
    """Give the whole address.

    >>> make_link("https://astra.example.org", "alert_00c0ffee00c0ffee")
    'https://astra.example.org/alerts'
    """
    return f"{page.rstrip('/')}/{find_page(identifier)}"
