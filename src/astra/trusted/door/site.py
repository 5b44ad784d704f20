"""Under which names the door answers, and how it keeps a session there.

On loopback that is `http://localhost:PORT`: cookies ignore ports, so the session is a secret in an
Authorization header, kept in the tab. With ASTRA_PUBLIC_URL it is that address and no other, with
a `__Host-` cookie.

>>> Site.loopback(8700).origin
'http://localhost:8700'
"""

from dataclasses import dataclass

from astra.trusted.settings.public_url import PublicUrl

COOKIE = "__Host-astra"
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True, kw_only=True)
class Site:
    origin: str
    hosts: frozenset[str]
    name: str
    """The host without its port: what a passkey is bound to."""
    secure: bool

    @staticmethod
    def loopback(port: int) -> "Site":
        return Site(
            origin=f"http://localhost:{port}",
            hosts=frozenset(f"{name}:{port}" for name in _LOOPBACK),
            name="localhost",
            secure=False,
        )

    @staticmethod
    def public(url: PublicUrl) -> "Site":
        return Site(origin=url.origin, hosts=frozenset({url.host}), name=url.name, secure=True)


def headers(site: Site) -> list[tuple[bytes, bytes]]:
    """Give what every answer says to a browser: load nothing from elsewhere, tell nobody."""
    header_values = dict(_HEADERS)
    if site.secure:
        header_values["Strict-Transport-Security"] = "max-age=31536000"
    return [(name.lower().encode(), value.encode()) for name, value in header_values.items()]


_POLICY = (
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
)
_HEADERS = {
    "Content-Security-Policy": "; ".join(_POLICY),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=()",
}
