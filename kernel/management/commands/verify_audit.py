"""``manage.py verify_audit``: whether the audit log's chain holds."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from kernel import audit
from kernel.models import AuditEntry, AuditSeal


class Command(BaseCommand):
    help = "Check every link of the audit log's chain. Prints each fault; the exit code is 1 if there is one."

    def handle(self, *args: Any, **options: Any) -> None:
        faults = audit.broken_links()
        for fault in faults:
            self.stdout.write(fault)
        if faults:
            raise CommandError(f"{len(faults)} faults in the audit chain")
        waiting = AuditEntry.objects.filter(seal__isnull=True).count()
        last = AuditSeal.objects.order_by("-position").first()
        head = f", head {last.hash}" if last else ""
        self.stdout.write(f"{last.position if last else 0} entries are sealed{head}; {waiting} wait to be")
