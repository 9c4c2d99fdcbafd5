"""``manage.py seed_demo``: the demo organisation. The nodes it runs on are simulated, and say so."""

import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.models import Person
from kernel import audit, clock
from kernel.errors import PortalError
from portal.demo.courses import HALF_YEAR
from portal.demo.fleet import missing_nodes, seed_pools, seed_prices, write_spec
from portal.demo.grants import seed_grants
from portal.demo.organisation import seed_organisation
from portal.demo.people import seed_people
from portal.demo.promises import seed_promises
from portal.demo.records import seed_records
from portal.demo.registry import seed_registry
from portal.demo.requests import seed_requests
from portal.demo.seeded import SEEDED, was_seeded
from portal.demo.submit import demo_submit

MOST_ROUNDS = 20
"""Of submissions after the seed, one job of each project at a time: until each has what it would keep busy."""
FIRST_JOBS = 200


class Command(BaseCommand):
    """Idempotent. Projects are made once: what people did to them afterwards is not undone.

    Quota can be granted when there is capacity, so the command is run again after the first nodes have enrolled.
    """

    help = "Make the demo organisation: people, research areas, pools, projects, and half a year of records."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--password-env",
            default="SLUICE_DEMO_PASSWORD",
            metavar="NAME",
            help="environment variable with the password of the demo accounts (default %(default)s)",
        )
        parser.add_argument(
            "--fleet-spec", type=Path, help="write the fleet simulator's file, with the one-time tokens of its nodes"
        )
        parser.add_argument(
            "--fleet-home",
            type=Path,
            help="where the simulator keeps its nodes: one that is not there gets a new token",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            self._seed(os.environ.get(options["password_env"], ""), options)
        except PortalError as error:
            raise CommandError(error.message) from error

    def _seed(self, password: str, options: dict[str, Any]) -> None:
        people = seed_people(password)
        admin = people["admin"]
        seed_pools(admin)
        if not was_seeded():
            seed_registry(people)
            seed_organisation(people)
            audit.record(SEEDED, actor=None, subject=admin)
            self.stdout.write("demo organisation made")
        if options["fleet_spec"] is not None:
            write_spec(admin, options["fleet_spec"], options["fleet_home"])
        waiting = seed_grants(admin)
        if waiting:
            self.stdout.write(f"{waiting} grants wait for the nodes that carry the GPUs; run this again then")
        if missing_nodes() == 0:
            self._seed_fleet(people)

    def _seed_fleet(self, people: dict[str, Person]) -> None:
        """What needs the simulated nodes to be there; each step once."""
        admin = people["admin"]
        seed_prices(clock.now() - HALF_YEAR)
        granted = seed_promises(admin)
        jobs = seed_records()
        requests = seed_requests(people)
        if requests:
            self.stdout.write(f"{requests} quota requests made")
        if jobs:
            self.stdout.write(f"{granted} quotas granted, {jobs} jobs of the past written")
            for _round in range(MOST_ROUNDS):
                if not demo_submit(FIRST_JOBS):
                    break
