"""A small OpenID Connect provider for tests, spoken to over real HTTP on the loopback address."""

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key

CLIENT_ID, CLIENT_SECRET = "sluice", "between-us"


@dataclass
class Provider:
    """``claims`` are of whoever signs in next; the other fields let a test make the provider misbehave."""

    claims: dict[str, Any]
    key: RSAPrivateKey = field(default_factory=lambda: generate_private_key(65537, 2048))
    audience: str = CLIENT_ID
    refuses: bool = False
    issuer: str = ""
    challenges: dict[str, str] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "jwks_uri": f"{self.issuer}/jwks",
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
        }

    def authorize(self, query: dict[str, str]) -> str:
        """Where the browser is sent back to."""
        if self.refuses:
            return f"{query['redirect_uri']}?{urlencode({'error': 'access_denied', 'state': query['state']})}"
        code = secrets.token_urlsafe(8)
        self.challenges[code] = query["code_challenge"]
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"

    def token(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """Checks secret, code (once) and the proof that the same browser flow asks (PKCE, S256)."""
        proof = base64.urlsafe_b64encode(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        expected = self.challenges.pop(form.get("code", ""), None)
        if form.get("client_secret") != CLIENT_SECRET or expected != proof.decode().rstrip("="):
            return 400, {"error": "invalid_grant"}
        now = int(time.time())
        body = {"iss": self.issuer, "aud": self.audience, "iat": now, "exp": now + 60, **self.claims}
        signed = jwt.encode(body, self.key, algorithm="RS256", headers={"kid": "k1"})
        return 200, {"access_token": "at", "token_type": "Bearer", "id_token": signed}

    def jwks(self) -> dict[str, Any]:
        public = jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        return {"keys": [{**public, "kid": "k1", "alg": "RS256", "use": "sig"}]}


class Handler(BaseHTTPRequestHandler):
    """Speaks for ``provider``, which ``running`` sets in a class of its own."""

    provider: ClassVar[Provider]

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        self.provider.requests.append(url.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        if url.path == "/authorize":
            self.send_response(302)
            self.send_header("Location", self.provider.authorize(query))
            self.end_headers()
            return
        documents: dict[str, Callable[[], dict[str, Any]]] = {
            "/.well-known/openid-configuration": self.provider.document,
            "/jwks": self.provider.jwks,
            "/userinfo": lambda: self.provider.claims,
        }
        self.answer(200, documents[url.path]())

    def do_POST(self) -> None:
        self.provider.requests.append(self.path)
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        form = {name: values[0] for name, values in parse_qs(body).items()}
        self.answer(*self.provider.token(form))

    def answer(self, status: int, document: dict[str, Any]) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Quiet: a failing test shows ``requests``."""


@contextmanager
def running(claims: dict[str, Any]) -> Iterator[Provider]:
    """The provider, listening until the block ends."""
    provider = Provider(claims)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"provider": provider}))
    provider.issuer = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
