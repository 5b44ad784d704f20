"""The pages of the dashboard. Until they are built, a plain page says what to do."""

from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from astra.interfaces.daemon.site import Site


class Pages:
    def __init__(self, site: Site) -> None:
        self._site = site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        text = "Astra runs here. This copy was installed without its dashboard.\n"
        await PlainTextResponse(text, status_code=404)(scope, receive, send)
