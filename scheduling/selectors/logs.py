"""Reading a job's log by byte offset."""

from dataclasses import dataclass

from scheduling.models import JobLog, LogChunk

MAX_READ_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class LogPart:
    """Bytes of a log, and the offset that follows them."""

    data: bytes
    next_offset: int


def log_read(job_id: int, offset: int = 0, limit: int = MAX_READ_BYTES) -> LogPart:
    """At most ``limit`` bytes from ``offset`` of the job's log on; nothing at or beyond its end.

    What was once read at an offset is there for good: the log only grows. A quiet log has very many small chunks: the
    index leads to the one that holds the offset, and none before it is looked at.
    """
    limit = min(limit, MAX_READ_BYTES)
    data = bytearray()
    chunks = LogChunk.objects.filter(log=job_id).order_by("offset")
    first = chunks.filter(offset__lte=offset).values_list("offset", flat=True).last()
    rest = chunks.filter(offset__gte=offset if first is None else first)
    for start, piece in rest.values_list("offset", "data").iterator(chunk_size=16):
        data += bytes(piece)[max(0, offset - start) :]
        if len(data) >= limit:
            break
    taken = bytes(data[:limit])
    return LogPart(taken, offset + len(taken))


def log_size(job_id: int) -> int:
    """Length of the job's log in bytes."""
    return JobLog.objects.filter(pk=job_id).values_list("size", flat=True).first() or 0
