"""What ``./run`` needs done in the database before anything else starts, in one process."""

from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand, call_command


class Command(BaseCommand):
    """Idempotent: every step does what is still missing."""

    help = "Migrate, seed the demo organisation, and make one-time tokens for nodes on this machine."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--demo", action="store_true", help="seed the demo organisation")
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
            call_command("seed_demo")
        for name, pool, token_file in options["enrol"]:
            call_command("enrol_node", name, pool=pool, token_file=token_file)
