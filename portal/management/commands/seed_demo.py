"""``manage.py seed_demo``: the demo organisation. The nodes it runs on are simulated, and say so."""

import os
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.models import Person
from kernel import audit
from kernel.errors import PortalError
from kernel.models import AuditEntry
from portal.demo.grants import seed_grants
from portal.demo.people import seed_people
from portal.demo.registry import seed_registry

SEEDED = "demo.seeded"


class Command(BaseCommand):
    """Idempotent. Projects are made once: what people did to them afterwards is not undone.

    Quota can be granted when there is capacity, so the command is run again after the first nodes have enrolled.
    """

    help = "Make the demo organisation: accounts, research areas, pools and projects."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--password-env",
            default="SLUICE_DEMO_PASSWORD",
            metavar="NAME",
            help="environment variable with the password of the demo accounts (default %(default)s)",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            self._seed(os.environ.get(options["password_env"], ""))
        except PortalError as error:
            raise CommandError(error.message) from error

    def _seed(self, password: str) -> None:
        people = seed_people(password)
        if not was_seeded():
            seed_registry(people)
            audit.record(SEEDED, actor=None, subject=people["admin"])
            self.stdout.write("demo organisation made")
        waiting = seed_grants(people["admin"])
        if waiting:
            self.stdout.write(f"{waiting} grants wait for the nodes that carry the GPUs; run this again then")


def was_seeded() -> bool:
    return AuditEntry.objects.filter(action=SEEDED, subject_type=Person._meta.label_lower).exists()
