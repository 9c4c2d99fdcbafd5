"""``manage.py create_person USERNAME``: the first admin of an installation, or anybody else."""

import getpass
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import Role
from accounts.services import person_create, role_grant
from kernel.errors import PortalError


class Command(BaseCommand):
    help = (
        "Create a person. The password is asked for, or read from standard input when that is not a terminal; "
        "--no-password makes an account for single sign-on."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--role", action="append", choices=Role.values, default=[], help="may be given again")
        parser.add_argument("--name", default="", help="name to show (default: USERNAME)")
        parser.add_argument("--email", default="")
        parser.add_argument("--no-password", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        password = None if options["no_password"] else self._password()
        try:
            person = person_create(
                actor=None,
                username=options["username"],
                display_name=options["name"] or options["username"],
                email=options["email"],
                password=password,
            )
            for role in options["role"]:
                role_grant(actor=None, person_id=person.pk, role=role)
        except PortalError as refusal:
            raise CommandError(refusal.message) from refusal
        self.stdout.write(f"created {person.username}" + "".join(f", {role}" for role in options["role"]))

    def _password(self) -> str:
        """Never an argument: those are seen in the list of processes."""
        if not sys.stdin.isatty():
            password = sys.stdin.readline().rstrip("\n")
        else:
            password = getpass.getpass("Password: ")
            if password != getpass.getpass("Again: "):
                raise CommandError("the two are not the same")
        if not password:
            raise CommandError("the password is empty")
        return password
