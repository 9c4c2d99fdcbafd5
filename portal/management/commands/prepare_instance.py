"""What ``./run`` needs done in the database before anything else starts, in one process."""

import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, call_command

from accounts.models import Person, Role, RoleGrant
from accounts.services import person_create, role_grant
from kernel.unit import unit_of_work


class Command(BaseCommand):
    """Idempotent: every step does what is still missing. The password comes in SLUICE_DEMO_PASSWORD."""

    help = "Migrate, seed the demo organisation or a first admin, and make one-time tokens for nodes on this machine."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--demo", action="store_true", help="seed the demo organisation")
        parser.add_argument("--fleet-spec", type=Path, help="with --demo: where the fleet simulator's file goes")
        parser.add_argument("--fleet-home", type=Path, help="with --fleet-spec: where the simulator keeps its nodes")
        parser.add_argument(
            "--enrol",
            nargs=3,
            action="append",
            default=[],
            metavar=("NAME", "POOL", "TOKEN_FILE"),
            help="make a one-time token for a node, in a file",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        call_command("migrate", interactive=False, verbosity=1)
        if options["demo"]:
            call_command("seed_demo", fleet_spec=options["fleet_spec"], fleet_home=options["fleet_home"])
        ensure_admin(os.environ.get("SLUICE_DEMO_PASSWORD", ""))
        for name, pool, token_file in options["enrol"]:
            # An agent that was interrupted may have used its token without having kept the answer.
            call_command("enrol_node", name, pool=pool, create_pool=True, replace=True, token_file=Path(token_file))


def ensure_admin(password: str) -> None:
    """Without an admin nobody could let anybody in. Does nothing if there ever was one."""
    if RoleGrant.objects.filter(role=Role.ADMIN).exists():
        return
    with unit_of_work():
        person = Person.objects.filter(username="admin").first()
        if person is None:
            person = person_create(actor=None, username="admin", display_name="Platform admin")
            # Not judged by strength: whoever starts the instance owns it.
            person.set_password(password or None)
            person.save(update_fields=["password"])
        role_grant(actor=None, person_id=person.pk, role=Role.ADMIN)
