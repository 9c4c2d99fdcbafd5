"""The agent's side of the conversation over HTTP."""

import ipaddress
from typing import TypeVar
from urllib.parse import urlsplit

import httpx
from msgspec import MsgspecError, json

from agent import __version__, messages
from agent.errors import PortalProblem

CONNECT_S = 3.0
ANSWER_S = 10.0
ENROL_ANSWER_S = 30.0
"""The token is used once the portal has begun: an answer that comes late must still be heard."""
MAX_DETAIL = 200

T = TypeVar("T")


def is_loopback(url: str) -> bool:
    """Whether the address is this machine itself."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def checked(answer: httpx.Response) -> httpx.Response:
    """The answer, or PortalProblem for one that is no success."""
    if answer.status_code == 401:
        raise PortalProblem("the portal does not accept this node's token (401)", 401)
    if not answer.is_success:
        detail = " ".join(answer.text[:MAX_DETAIL].split())
        raise PortalProblem(f"portal answered {answer.status_code}: {detail}", answer.status_code)
    return answer


def decode(answer: httpx.Response, kind: type[T]) -> T:
    """The message in an answer, or PortalProblem where it is none."""
    try:
        return json.decode(answer.content, type=kind)
    except MsgspecError as error:
        raise PortalProblem(f"portal's answer is not a {kind.__name__}: {error}") from error


class Portal:
    """One client for all threads. Every call either returns what the message says or raises PortalProblem."""

    def __init__(self, url: str, token: str = "", answer_s: float = ANSWER_S) -> None:
        headers = {"User-Agent": f"sluice-agent/{__version__}"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        self._client = httpx.Client(
            base_url=url,
            headers=headers,
            timeout=httpx.Timeout(answer_s, connect=CONNECT_S),
            limits=httpx.Limits(max_connections=8, max_keepalive_connections=8, keepalive_expiry=30),
            # A proxy that the environment names cannot reach this machine's loopback.
            trust_env=not is_loopback(url),
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def enrol(self, enrol: messages.Enrol) -> messages.Enrolled:
        """Trade the one-time token."""
        return decode(self._post(messages.ENROL_PATH, json.encode(enrol)), messages.Enrolled)

    def sync(self, sync: messages.Sync) -> messages.SyncReply:
        """Say what the node holds, hear what it should hold."""
        return decode(self._post(messages.SYNC_PATH, json.encode(sync)), messages.SyncReply)

    def launch(self, member_id: int) -> messages.Launch | None:
        """What to start; None when the member is unknown or no longer wanted."""
        answer = self._send("GET", messages.LAUNCH_PATH.format(member_id=member_id))
        if answer.status_code in (404, 409):
            return None
        return decode(checked(answer), messages.Launch)

    def send_log(self, member_id: int, offset: int, data: bytes) -> messages.LogReply:
        """Output of a member from ``offset`` on."""
        path = f"{messages.LOG_PATH.format(member_id=member_id)}?offset={offset}"
        return decode(self._post(path, data, "application/octet-stream"), messages.LogReply)

    def send_samples(self, batch: bytes) -> messages.SampleReply:
        """One encoded SampleBatch."""
        return decode(self._post(messages.SAMPLES_PATH, batch), messages.SampleReply)

    def _post(self, path: str, content: bytes, kind: str = "application/json") -> httpx.Response:
        return checked(self._send("POST", path, content, {"Content-Type": kind}))

    def _send(
        self, method: str, path: str, content: bytes | None = None, headers: dict[str, str] | None = None
    ) -> httpx.Response:
        try:
            return self._client.request(method, path, content=content, headers=headers)
        except httpx.HTTPError as error:
            raise PortalProblem(f"portal not reached: {error or type(error).__name__}") from error
