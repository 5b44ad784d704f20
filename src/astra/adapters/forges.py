"""Pull requests by the API of a forge: GitHub's shape, and the one of Gitea and Forgejo.

Only the signed configuration names the address. It is spoken to over TLS with a certificate of that
name, or on loopback; no redirect is followed, no proxy of the environment used, what comes back is
bounded, and so is the time it takes. Asking twice gives the same pull request: where there is one
for the branch already, it is looked up.
"""

import json
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import quote, urlencode, urlsplit

from astra.adapters.bounded_http import CONVERSATION_ERRORS, open_connection
from astra.adapters.git_push import make_failure
from astra.deployments.pushing import DENIED, REFUSED, UNREACHABLE, PushOrder, PushOutcome
from astra.trusted.kernel.masking import mask
from astra.trusted.kernel.text import one_line, printable
from astra.trusted.settings.deploy_settings import Forge

_SECONDS = 30.0
_MOST_BYTES = 1 << 20
_LONGEST = 300
_CREATED, _OK = 201, 200
_EXISTS = frozenset({409, 422})
_DENIED = frozenset({401, 403, 404})
_SERVER_ERROR = 500
_SCHEMES = {"github": "Bearer", "gitea": "token"}
_ACCEPT = {"github": "application/vnd.github+json", "gitea": "application/json"}


@dataclass(frozen=True, kw_only=True)
class ForgeAnswer:
    status: int
    document: Any

    @property
    def message(self) -> str:
        text = _read_member(self.document, "message") or "no message"
        return f"the forge answered with {self.status}: {text}"


@dataclass(frozen=True, kw_only=True)
class ForgeClient:
    forge: Forge
    token: str = field(repr=False)
    seconds: float = _SECONDS
    trust: Callable[[], ssl.SSLContext] = ssl.create_default_context

    def request_merge(self, order: PushOrder) -> PushOutcome:
        """Ask for a pull request from the pushed branch, or find the one that is there."""
        body = {"title": order.title, "head": order.branch, "base": order.into, "body": order.text}
        try:
            answer = self._send("POST", self._pulls_path, body)
            if answer.status in _EXISTS and (address := self._find_open(order)):
                return self._make_success(order, address)
        except CONVERSATION_ERRORS as error:
            return make_failure(UNREACHABLE, self._clean(str(error) or type(error).__name__))
        if answer.status == _CREATED:
            return self._make_success(order, _read_address(answer.document))
        return self._make_failure(answer)

    def _find_open(self, order: PushOrder) -> str:
        query = {"state": "open", "base": order.into}
        if self.forge.kind == "github":
            query |= {"head": f"{self.forge.owner}:{order.branch}"}
        else:
            query |= {"sort": "recentupdate", "limit": "50"}
        answer = self._send("GET", f"{self._pulls_path}?{urlencode(query)}", None)
        is_list = answer.status == _OK and isinstance(answer.document, list)
        for request in cast("list[Any]", answer.document) if is_list else ():
            if _reads_from(request, order.branch):
                return _read_address(request) or f"the one for {order.branch}"
        return ""

    @property
    def _pulls_path(self) -> str:
        owner, name = quote(self.forge.owner, safe=""), quote(self.forge.repository, safe="")
        return f"{urlsplit(self.forge.api).path}/repos/{owner}/{name}/pulls"

    def _send(self, method: str, target: str, body: dict[str, str] | None) -> ForgeAnswer:
        headers = {
            "Accept": _ACCEPT[self.forge.kind],
            "Accept-Encoding": "identity",
            "Authorization": f"{_SCHEMES[self.forge.kind]} {self.token}",
            "Content-Type": "application/json",
            "User-Agent": "astra",
        }
        content = json.dumps(body).encode() if body is not None else None
        with open_connection(self.forge.api, seconds=self.seconds, trust=self.trust) as connection:
            connection.request(method, target, content, headers)
            response = connection.getresponse()
            return ForgeAnswer(status=response.status, document=_parse(response.read(_MOST_BYTES)))

    def _make_success(self, order: PushOrder, address: str) -> PushOutcome:
        detail = f"{order.commit[:12]} is in {order.branch}, pull request {address}"
        return PushOutcome(ok=True, detail=self._clean(detail), pull_request=self._clean(address))

    def _make_failure(self, answer: ForgeAnswer) -> PushOutcome:
        code = DENIED if answer.status in _DENIED else REFUSED
        if answer.status >= _SERVER_ERROR:
            code = UNREACHABLE
        return make_failure(code, self._clean(f"it was pushed, but {answer.message}"))

    def _clean(self, text: str) -> str:
        """Make one printable line of what a forge says, without the token."""
        return one_line(printable(mask(text.replace(self.token, "…"))), _LONGEST)


def _parse(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):  # the second from brackets, thousands deep
        return None


def _read_address(document: Any) -> str:
    """Read where people see a pull request; anything but a web address is left out."""
    address = _read_member(document, "html_url")
    is_web_address = isinstance(address, str) and urlsplit(address).scheme in {"https", "http"}
    return str(address) if is_web_address else ""


def _reads_from(document: Any, branch: str) -> bool:
    return _read_member(_read_member(document, "head"), "ref") == branch


def _read_member(document: Any, name: str) -> Any:
    """Read a member of what may be anything."""
    return cast("dict[str, Any]", document).get(name) if isinstance(document, dict) else None
