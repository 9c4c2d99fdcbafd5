"""``manage.py enrol_node NAME --pool POOL``: make a one-time enrolment token, to start a node's agent with."""

import os
from argparse import ArgumentParser
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.models import Person, Role
from accounts.policies import has_role
from inventory.models import Pool, Source
from inventory.services import (
    EnrolmentSpec,
    PoolSpec,
    enrolment_token_issue,
    open_enrolment_tokens_revoke,
    pool_create,
)
from kernel import clock
from kernel.errors import PortalError
from kernel.unit import unit_of_work


class Command(BaseCommand):
    help = "Make a one-time token with which a node enrols. Prints the token, or writes it to a file."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="name of the node")
        parser.add_argument("--pool", required=True, help="name of its pool")
        parser.add_argument("--create-pool", action="store_true", help="make the pool, with defaults, if it is new")
        parser.add_argument("--source", default=Source.OWNED, choices=Source.values)
        parser.add_argument("--days", type=float, default=1.0, help="how long the token is good (default 1)")
        parser.add_argument("--actor", help="username of the admin who does this (default: the first one)")
        parser.add_argument("--replace", action="store_true", help="revoke the node's tokens that nobody has used")
        parser.add_argument("--token-file", type=Path, help="write the token there, readable by its owner alone")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            secret = self._issue(_admin(options["actor"]), options)
        except PortalError as error:
            raise CommandError(error.message) from error
        if options["token_file"] is None:
            self.stdout.write(secret)
        else:
            _write_private(options["token_file"], secret)

    def _issue(self, actor: Person, options: dict[str, Any]) -> str:
        with unit_of_work():
            pool = Pool.objects.filter(name=options["pool"]).first()
            if pool is None and options["create_pool"]:
                pool = pool_create(actor=actor, spec=PoolSpec(name=options["pool"], title=options["pool"]))
            if pool is None:
                raise CommandError(f"there is no pool “{options['pool']}” (--create-pool makes it)")
            if options["replace"]:
                open_enrolment_tokens_revoke(actor=actor, node_name=options["name"])
            expires_at = clock.now() + timedelta(days=options["days"])
            spec = EnrolmentSpec(options["name"], pool.pk, options["source"], expires_at)
            return enrolment_token_issue(actor=actor, spec=spec)[1]


def _admin(username: str | None) -> Person:
    people = Person.objects.filter(is_active=True).order_by("pk")
    if username is not None:
        person = people.filter(username=username).first()
        if person is None:
            raise CommandError(f"there is no active account “{username}”")
        return person
    holders = people.filter(role_grants__role=Role.ADMIN, role_grants__revoked_at__isnull=True)
    admin = next((person for person in holders if has_role(person, Role.ADMIN)), None)
    if admin is None:
        raise CommandError("there is no platform admin yet; make one first")
    return admin


def _write_private(path: Path, text: str) -> None:
    """Whole or not at all, and never readable by others: the agent may be waiting for the file."""
    part = path.with_name(f".{path.name}.part")
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text + "\n")
    part.replace(path)
