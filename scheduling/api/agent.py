"""What agents call about attempts: sync, fetch a launch, send a piece of a log."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.http import HttpResponse
from rest_framework.request import Request

from agent import messages
from inventory.api.agent import AgentView, answer, decoded
from inventory.api.authentication import node_of
from kernel.errors import Invalid, LockTimeout
from scheduling.errors import Busy, LogTooLarge
from scheduling.services import launch_for, log_append, node_sync
from scheduling.services.logs import MAX_CHUNK_BYTES


class SyncView(AgentView):
    """``POST /agent/v1/sync``"""

    def post(self, request: Request) -> HttpResponse:
        with _busy():
            return answer(node_sync(node=node_of(request), sync=decoded(request, messages.Sync)))


class LaunchView(AgentView):
    """``GET /agent/v1/launches/{id}``: 404 for another node's, 409 when it is not to be started any more."""

    def get(self, request: Request, member_id: str) -> HttpResponse:
        with _busy():
            return answer(launch_for(node=node_of(request), member_id=int(member_id)))


class LogView(AgentView):
    """``POST /agent/v1/logs/{id}?offset=``: raw bytes, at most a mebibyte."""

    def post(self, request: Request, member_id: str) -> HttpResponse:
        size = request.META.get("CONTENT_LENGTH") or "0"
        if not size.isdigit() or int(size) > MAX_CHUNK_BYTES:
            raise LogTooLarge(data={"max_bytes": MAX_CHUNK_BYTES})
        with _busy():
            next_offset = log_append(
                node=node_of(request), member_id=int(member_id), offset=_offset(request), data=request.body
            )
        return answer(messages.LogReply(next_offset))


def _offset(request: Request) -> int:
    raw = request.query_params.get("offset", "")
    if not (raw.isascii() and raw.isdigit() and len(raw) < 19):
        raise Invalid({"offset": f"“{raw[:40]}” is not a count of bytes"})
    return int(raw)


@contextmanager
def _busy() -> Iterator[None]:
    """A lock that cannot be had is no answer about the member: the agent reads 409 as *not wanted*."""
    try:
        yield
    except LockTimeout as error:
        raise Busy from error
