"""A job's log, live: server-sent events, and the whole of it as a download.

A stream holds no database connection while it waits: each look opens one, reads, and gives it back.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass

from asgiref.sync import sync_to_async
from django.db import connection
from django.http import HttpRequest, StreamingHttpResponse
from django.views.decorators.http import require_GET

from accounts.models import Person
from accounts.policies import require_signed_in
from kernel.errors import NotFound
from scheduling.log_text import LogText, event
from scheduling.selectors import log_read, visible_to
from scheduling.selectors.progress import log_end

POLL_S = 1.0
ALIVE_S = 15.0
CHECK_S = 3.0
"""How often it is looked again whether the person may still read this; five seconds after, nobody reads on."""
LONGEST_S = 3600.0
LARGEST = 64 * 1024 * 1024
"""Bounds of one connection. The browser opens the next one where this one ended."""
PART = 64 * 1024
DOWNLOAD_PART = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Look:
    """One look into the log. ``is_end``: this is the last of it."""

    data: bytes
    is_end: bool


@require_GET
async def stream(request: HttpRequest, job_id: int) -> StreamingHttpResponse:
    """Events from ``?offset=`` or, on a repeated connection, from ``Last-Event-ID``."""
    person_id = await _permitted(request, job_id)
    answer = StreamingHttpResponse(_events(person_id, job_id, _offset(request)), content_type="text/event-stream")
    answer["Cache-Control"] = "no-cache, no-transform"
    # Proxies must not gather what should be seen at once.
    answer["X-Accel-Buffering"] = "no"
    return answer


@require_GET
async def download(request: HttpRequest, job_id: int) -> StreamingHttpResponse:
    """The log as it is now, as a file of plain text."""
    await _permitted(request, job_id)
    answer = StreamingHttpResponse(_parts(job_id), content_type="text/plain; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="job-{job_id}.log"'
    return answer


async def _events(person_id: int, job_id: int, offset: int) -> AsyncIterator[bytes]:
    text, sent = LogText(offset), 0
    started = checked = alive = time.monotonic()
    yield b"retry: 2000\n\n"
    while (now := time.monotonic()) - started < LONGEST_S and sent < LARGEST:
        if now - checked > CHECK_S:
            checked = now
            if not await _may_read(person_id, job_id):
                return
        look = await _look(job_id, text.offset)
        piece = text.take(look.data, is_last=look.is_end)
        if piece:
            sent, alive = sent + len(look.data), now
            yield event(piece, text.offset)
        if look.is_end:
            yield b"event: end\ndata: complete\n\n"
            return
        if not piece:
            if now - alive > ALIVE_S:
                alive = now
                yield b"event: alive\ndata: waiting\n\n"
            await asyncio.sleep(POLL_S)


async def _parts(job_id: int) -> AsyncIterator[bytes]:
    offset = 0
    while part := await _read(job_id, offset):
        offset += len(part)
        yield part


@sync_to_async
def _look(job_id: int, offset: int) -> Look:
    """The end is asked for before the bytes are read: what is written between is seen by the next look."""
    try:
        end = log_end(job_id)
        data = log_read(job_id, offset, PART).data
        return Look(data, end.is_complete and offset + len(data) >= end.size)
    finally:
        connection.close()


@sync_to_async
def _read(job_id: int, offset: int) -> bytes:
    try:
        return bytes(log_read(job_id, offset, DOWNLOAD_PART).data)
    finally:
        connection.close()


@sync_to_async
def _permitted(request: HttpRequest, job_id: int) -> int:
    """The person's id. Raises ``NotFound`` for a stranger, ``Unauthenticated`` for nobody."""
    try:
        person = require_signed_in(request.user)
        if not visible_to(person).filter(pk=job_id).exists():
            raise NotFound
        return person.pk
    finally:
        connection.close()


@sync_to_async
def _may_read(person_id: int, job_id: int) -> bool:
    try:
        person = Person.objects.filter(pk=person_id, is_active=True).first()
        return person is not None and visible_to(person).filter(pk=job_id).exists()
    finally:
        connection.close()


def _offset(request: HttpRequest) -> int:
    """What a browser says when it comes back counts more than the address."""
    for raw in (request.headers.get("Last-Event-ID", ""), request.GET.get("offset", "")):
        if raw.isascii() and raw.isdigit() and len(raw) < 19:
            return int(raw)
    return 0
