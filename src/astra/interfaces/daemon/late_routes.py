"""Routes that are put together when they are first asked for.

FastAPI makes validators and a document of every parameter and answer when a route is added. For all
routes that was four fifths of what a daemon computed before it served, and most are never asked for
before it leaves. Which path and method a route answers is known at once; the rest is made when
somebody reads it: a first request, or whoever writes the description of the API.
"""

from collections.abc import Callable, Collection
from threading import RLock
from typing import Any

from fastapi.routing import APIRoute
from starlette.routing import Match, compile_path
from starlette.types import Scope

_OF_THE_PATH = frozenset({"path_regex", "path_format", "param_convertors"})


class LateRoute(APIRoute):
    """A route of FastAPI's that is one from the first look at more than its path and methods."""

    def __init__(
        self,
        path: str,
        endpoint: Callable[..., Any],
        *,
        methods: Collection[str] | None = None,
        **options: Any,
    ) -> None:
        self.path = path
        self.endpoint = endpoint
        self.methods = {method.upper() for method in methods or ("GET",)}
        self._beginning = path.partition("{")[0]
        self._assembling = RLock()
        self._options: dict[str, Any] | None = options

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Answer as every route does, without a pattern where the beginning differs already."""
        if not scope.get("root_path") and not scope["path"].startswith(self._beginning):
            return Match.NONE, {}
        return super().matches(scope)

    def __getattr__(self, name: str) -> Any:
        """Make what is not there yet; Python asks here for nothing else."""
        if name in _OF_THE_PATH:
            self.path_regex, self.path_format, self.param_convertors = compile_path(self.path)
        elif not name.startswith("__"):
            self._assemble()
        try:
            return self.__dict__[name]
        except KeyError:
            raise AttributeError(f"a route has no {name}") from None

    def _assemble(self) -> None:
        """Become a whole route, once; whoever comes meanwhile waits until it is one."""
        with self._assembling:
            options, self._options = self._options, None
            if options is not None:
                super().__init__(self.path, self.endpoint, methods=self.methods, **options)
