"""Reading a job's log by byte offset."""

from dataclasses import dataclass

from django.db.models import F
from django.db.models.functions import Length

from scheduling.models import JobLog, LogChunk

MAX_READ_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class LogPart:
    """Bytes of a log, and the offset that follows them."""

    data: bytes
    next_offset: int


def log_read(job_id: int, offset: int = 0, limit: int = MAX_READ_BYTES) -> LogPart:
    """At most ``limit`` bytes from ``offset`` of the job's log on; nothing at or beyond its end.

    What was once read at an offset is there for good: the log only grows.
    """
    limit = min(limit, MAX_READ_BYTES)
    data = bytearray()
    chunks = LogChunk.objects.filter(log=job_id).alias(end=F("offset") + Length("data")).filter(end__gt=offset)
    for start, piece in chunks.order_by("offset").values_list("offset", "data").iterator(chunk_size=16):
        data += bytes(piece)[max(0, offset - start) :]
        if len(data) >= limit:
            break
    taken = bytes(data[:limit])
    return LogPart(taken, offset + len(taken))


def log_size(job_id: int) -> int:
    """Length of the job's log in bytes."""
    return JobLog.objects.filter(pk=job_id).values_list("size", flat=True).first() or 0
