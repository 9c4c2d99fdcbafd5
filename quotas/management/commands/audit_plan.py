"""``manage.py audit_plan IN.json PLAN.json``: does the plan keep the rules of the instance?"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from kernel.documents import BadInput
from kernel.file_command import BAD_INPUT, FileCommand, document_of
from quotas.engine.auditing import audit


class Command(FileCommand):
    help = "Print one line per broken rule. Exit 0: none, 1: some, 2: bad input."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("instance", metavar="IN.json", type=Path, help="what was solved, as instance/1")
        parser.add_argument("plan", metavar="PLAN.json", type=Path, help="the plan to judge, as plan/1")

    def handle(self, *args: Any, **options: Any) -> None:
        instance, plan = document_of(options["instance"]), document_of(options["plan"])
        try:
            lines = audit(instance, plan)
        except BadInput as error:
            raise CommandError(str(error), returncode=BAD_INPUT) from error
        for line in lines:
            self.stdout.write(line)
        if lines:
            raise CommandError(f"{len(lines)} broken rules", returncode=1)
