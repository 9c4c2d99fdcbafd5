"""``manage.py export_workload --since … --until … --nodes-out N.csv --jobs-out J.csv``: live history for a replay."""

import csv
import io
from argparse import ArgumentParser
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from kernel.calendar import organisation_zone
from kernel.file_command import BAD_INPUT, FileCommand, write_whole
from scheduling.engine.replay.workload import JOB_COLUMNS, MORE_JOB_COLUMNS, NODE_COLUMNS
from scheduling.selectors.workload import workload_jobs, workload_nodes


class Command(FileCommand):
    help = "Write the jobs submitted from --since until before --until, and the nodes as they are now."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--since", required=True, help="2030-03-01 or 2030-03-01T12:00, the organisation's time")
        parser.add_argument("--until", required=True)
        parser.add_argument("--nodes-out", metavar="N.csv", type=Path, required=True)
        parser.add_argument("--jobs-out", metavar="J.csv", type=Path, required=True)

    def handle(self, *args: Any, **options: Any) -> None:
        since, until = (_instant(f"--{name}", options[name]) for name in ("since", "until"))
        if until <= since:
            raise CommandError(f"--until: {options['until']} is not after {options['since']}", returncode=BAD_INPUT)
        nodes, jobs = workload_nodes(), workload_jobs(since, until)
        write_whole(options["nodes_out"], _table(NODE_COLUMNS, nodes))
        write_whole(options["jobs_out"], _table((*JOB_COLUMNS, *MORE_JOB_COLUMNS), jobs))
        self.stdout.write(f"{len(nodes)} nodes, {len(jobs)} jobs")


def _instant(name: str, text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise CommandError(
            f"{name}: {text!r} is not a day or an instant, such as 2030-03-01 or 2030-03-01T12:00", returncode=BAD_INPUT
        ) from error
    return found if found.tzinfo else found.replace(tzinfo=organisation_zone())


def _table(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: "" if value is None else value for key, value in row.items()} for row in rows)
    return text.getvalue().rstrip("\n")
