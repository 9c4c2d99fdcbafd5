"""Logs of members, taken in as contiguous pieces: whatever is repeated, split or lost on the way, once each."""

from inventory.models import Node
from kernel import clock
from kernel.errors import NotFound
from kernel.unit import unit_of_work
from scheduling.models import AttemptMember, JobLog, LogChunk

MAX_CHUNK_BYTES = 1024 * 1024


def log_append(*, node: Node, member_id: int, offset: int, data: bytes) -> int:
    """Store what is new of ``data``, which starts at ``offset`` of the member's log; return the next offset.

    What is stored already is cut off; what would leave a gap is not stored, and the answer says where to go on.
    Locks the job's log, so that pieces of many members lie one after another and never move. Raises ``NotFound``
    for a member of another node.
    """
    found = AttemptMember.objects.filter(pk=member_id, node=node).values_list("attempt__job_id").first()
    if found is None:
        raise NotFound
    with unit_of_work():
        log = JobLog.objects.select_for_update().get(pk=found[0])
        stored = AttemptMember.objects.values_list("log_stored_bytes", flat=True).get(pk=member_id)
        fresh = data[stored - offset :] if offset <= stored else b""
        if not fresh:
            return stored
        LogChunk.objects.create(
            log=log, offset=log.size, member_id=member_id, member_offset=stored, data=fresh, at=clock.now()
        )
        log.size += len(fresh)
        log.save(update_fields=["size"])
        AttemptMember.objects.filter(pk=member_id).update(log_stored_bytes=stored + len(fresh))
    return stored + len(fresh)
