"""The agent's side of the conversation for many nodes: one client, each call with its node's own token."""

import asyncio

import httpx
from msgspec import json

from agent import __version__, messages
from agent.errors import PortalProblem
from agent.portal import ANSWER_S, CONNECT_S, ENROL_ANSWER_S, checked, decode, is_loopback

AT_ONCE = 4
"""Requests under way together: sixty nodes must not look like a flood to the portal."""


def timeout_of(answer_s: float) -> httpx.Timeout:
    """For one call; a free connection is waited for as long as it takes."""
    return httpx.Timeout(answer_s, connect=CONNECT_S, pool=None)


class FleetPortal:
    """Every call returns what the message says or raises PortalProblem."""

    def __init__(self, url: str) -> None:
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._client = httpx.AsyncClient(
            base_url=url,
            headers={"User-Agent": f"sluice-fleet/{__version__}"},
            timeout=timeout_of(ANSWER_S),
            limits=httpx.Limits(max_connections=AT_ONCE, max_keepalive_connections=AT_ONCE, keepalive_expiry=30),
            trust_env=not is_loopback(url),
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def enrol(self, enrol: messages.Enrol) -> messages.Enrolled:
        """Trade a one-time token."""
        return decode(await self._post("", messages.ENROL_PATH, json.encode(enrol)), messages.Enrolled)

    async def sync(self, token: str, sync: messages.Sync) -> messages.SyncReply:
        """Say what a node holds, hear what it should hold."""
        return decode(await self._post(token, messages.SYNC_PATH, json.encode(sync)), messages.SyncReply)

    async def launch(self, token: str, member_id: int) -> messages.Launch | None:
        """What to start; None when the member is unknown or no longer wanted."""
        answer = await self._send("GET", messages.LAUNCH_PATH.format(member_id=member_id), token)
        return None if answer.status_code in (404, 409) else decode(checked(answer), messages.Launch)

    async def send_log(self, token: str, member_id: int, offset: int, data: bytes) -> messages.LogReply:
        """Output of a member from ``offset`` on."""
        path = f"{messages.LOG_PATH.format(member_id=member_id)}?offset={offset}"
        return decode(await self._post(token, path, data, "application/octet-stream"), messages.LogReply)

    async def send_samples(self, token: str, batch: messages.SampleBatch) -> messages.SampleReply:
        """One batch of a node's samples."""
        return decode(await self._post(token, messages.SAMPLES_PATH, json.encode(batch)), messages.SampleReply)

    async def _post(self, token: str, path: str, content: bytes, kind: str = "application/json") -> httpx.Response:
        return checked(await self._send("POST", path, token, content, kind))

    async def _send(
        self, method: str, path: str, token: str, content: bytes | None = None, kind: str = ""
    ) -> httpx.Response:
        headers = {"Content-Type": kind} if kind else {}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        # A node without a token of its own is enrolling.
        answer_s = ANSWER_S if token else ENROL_ANSWER_S
        async with self._turns:
            try:
                return await self._client.request(
                    method, path, content=content, headers=headers, timeout=timeout_of(answer_s)
                )
            except httpx.HTTPError as error:
                raise PortalProblem(f"portal not reached: {error or type(error).__name__}") from error
