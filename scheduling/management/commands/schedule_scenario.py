"""``manage.py schedule_scenario IN.json``: one decision of the scheduler on a file, without any service."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from kernel.documents import BadInput
from kernel.file_command import BAD_INPUT, FileCommand, document_of, spare_input, write_whole
from scheduling.engine import decide, scenario


class Command(FileCommand):
    help = "Decide on a scenario/1 file; print a decision/1 document. Exit 2 for bad input: one line per fault."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("scenario", metavar="IN.json", type=Path)
        parser.add_argument("--out", metavar="OUT.json", type=Path, help="write the document here, print nothing")
        parser.add_argument("--explain", metavar="JOB", help="print what happens to this job, and why, instead")

    def handle(self, *args: Any, **options: Any) -> None:
        read = _read(options["scenario"])
        decision = decide(read.snapshot, read.now, read.policy)
        document = json.dumps(scenario.document_of(decision, read), indent=1, ensure_ascii=False)
        job = options["explain"]
        if job and job not in read.names.jobs:
            raise CommandError(f"--explain: there is no job “{job}” in the scenario", returncode=BAD_INPUT)
        if options["out"]:
            spare_input(options["scenario"], options["out"])
            write_whole(options["out"], document)
        if job:
            self.stdout.write("\n".join(scenario.explanation(decision, read, job) or [f"{job}: nothing changes."]))
        elif not options["out"]:
            self.stdout.write(document)


def _read(path: Path) -> scenario.Scenario:
    try:
        return scenario.read(document_of(path, is_exact=True))
    except BadInput as error:
        raise CommandError(str(error), returncode=BAD_INPUT) from error
