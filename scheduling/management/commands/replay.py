"""``manage.py replay --nodes N.csv --jobs J.csv --out R.json``: a workload through the scheduler's engine."""

import json
import time
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from django.core.management.base import CommandError

from kernel.documents import BadInput, Fault
from kernel.file_command import BAD_INPUT, FileCommand, document_of, write_whole
from scheduling.engine.replay.inflation import run_inflation
from scheduling.engine.replay.openb import TraceJob
from scheduling.engine.replay.simulation import replay
from scheduling.engine.replay.terms import Terms, read_terms
from scheduling.engine.replay.workload import Workload, read_workload

Read = TypeVar("Read")


class Command(FileCommand):
    help = "Replay a workload; write a replay/1 document. Exit 2 for bad input: one line per fault, nothing written."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--nodes", metavar="N.csv", type=Path, required=True)
        parser.add_argument("--jobs", metavar="J.csv", type=Path, required=True)
        parser.add_argument("--policy", metavar="P.json", type=Path, help="policy, quotas and reserve")
        parser.add_argument("--seed", type=int, default=0, help="of the inflation experiment")
        parser.add_argument(
            "--experiment", choices=("inflation",), help="jobs arrive one by one and never leave; times are ignored"
        )
        parser.add_argument("--out", metavar="R.json", type=Path, required=True)

    def handle(self, *args: Any, **options: Any) -> None:
        workload = _checked(lambda: read_workload(_text(options["nodes"]), _text(options["jobs"])))
        given = document_of(options["policy"], is_exact=True) if options["policy"] else {}
        models = {device.gpu_model for node in workload.nodes for device in node.devices}
        terms = _checked(lambda: read_terms(given, {job.project for job in workload.jobs}, models))
        started = time.process_time()
        is_inflation = options["experiment"] == "inflation"
        document = _inflation(workload, options["seed"]) if is_inflation else _replay(workload, terms)
        document["cpu_seconds"] = round(time.process_time() - started, 3)
        write_whole(options["out"], json.dumps(document, indent=1, ensure_ascii=False))


def _replay(workload: Workload, terms: Terms) -> dict[str, Any]:
    started = time.process_time()
    outcome = replay(workload, terms)
    seconds = time.process_time() - started
    return {**outcome.document(), "decisions_per_second": round(outcome.decisions / seconds, 1) if seconds else None}


def _inflation(workload: Workload, seed: int) -> dict[str, Any]:
    jobs = [TraceJob(job.name, job.ask) for job in workload.jobs]
    try:
        found = run_inflation(workload.nodes, jobs, seed)
    except ValueError as error:
        raise CommandError(f"inflation: {error}", returncode=BAD_INPUT) from error
    return {
        "schema": "replay/1",
        "experiment": "inflation",
        "seed": seed,
        "allocation_rate_at_100": round(found.allocation_rate_at_100, 4),
        "arrivals": found.arrivals,
        "dropped": found.dropped,
        "allocation_rate": {str(asked): round(rate, 4) for asked, rate in sorted(found.rates.items())},
    }


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput([Fault(str(path), str(error))]) from error


def _checked(read: Callable[[], Read]) -> Read:
    """Bad input ends the command with exit 2."""
    try:
        return read()
    except BadInput as error:
        raise CommandError(str(error), returncode=BAD_INPUT) from error
