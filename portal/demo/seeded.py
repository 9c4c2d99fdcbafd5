"""Whether this instance has a demo organisation."""

from accounts.models import Person
from kernel.models import AuditEntry

SEEDED = "demo.seeded"


def was_seeded() -> bool:
    return AuditEntry.objects.filter(action=SEEDED, subject_type=Person._meta.label_lower).exists()
