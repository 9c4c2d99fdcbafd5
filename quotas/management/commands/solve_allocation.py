"""``manage.py solve_allocation IN.json --out PLAN.json``: the allocation solver on files, without any service."""

import json
import time
from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from kernel.documents import BadInput, digest
from kernel.file_command import BAD_INPUT, FileCommand, document_of, spare_input, write_whole
from quotas.engine.plan import Plan
from quotas.engine.reading import read
from quotas.engine.solving import solve


class Command(FileCommand):
    help = "Solve an instance/1 file; write a plan/1 file. Exit 2 for bad input: one line per fault, nothing written."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("instance", metavar="IN.json", type=Path, help="what to solve, as instance/1")
        parser.add_argument(
            "--out", metavar="PLAN.json", type=Path, required=True, help="where the plan goes, whole or not at all"
        )
        parser.add_argument("--explain", metavar="PROJECT", help="print what this project gets, and why")
        parser.add_argument(
            "--seconds", type=_seconds, help="give a greedy plan when the exact one takes longer than this"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        document = document_of(options["instance"])
        spare_input(options["instance"], options["out"])
        plan, seconds = _solved(document, options["seconds"])
        explained = options["explain"]
        if explained and explained not in {share.project for share in plan.projects}:
            raise CommandError(f"--explain: there is no project “{explained}” in the instance", returncode=BAD_INPUT)
        write_whole(options["out"], json.dumps(plan.document(seconds=round(seconds, 4)), indent=1, ensure_ascii=False))
        if explained:
            self.stdout.write("\n".join(_explanation(plan, explained)))


def _seconds(text: str) -> float:
    seconds = float(text)
    if not seconds >= 0:
        raise ArgumentTypeError(f"{text} is not a number of seconds from 0")
    return seconds


def _solved(document: Any, limit: float | None) -> tuple[Plan, float]:
    """The plan and the CPU seconds of its solve; the limit is on the wall clock."""
    try:
        instance = read(document)
    except BadInput as error:
        raise CommandError(str(error), returncode=BAD_INPUT) from error
    started, deadline = time.process_time(), time.monotonic() + (limit if limit is not None else float("inf"))
    plan = solve(instance, sha256=digest(document), is_late=lambda: time.monotonic() > deadline).plan
    return plan, time.process_time() - started


def _explanation(plan: Plan, name: str) -> list[str]:
    share = next(share for share in plan.projects if share.project == name)
    quotas = [quota for quota in plan.quotas if quota.project == name]
    given = [f"{quota.gpus} {quota.model} ({quota.guaranteed} guaranteed, limit {quota.limit})" for quota in quotas]
    facts = (
        f"level {share.level:.4g}, exact {share.exact_level:.4g}, entitlement {share.entitlement:.6g} effective GPUs"
    )
    lines = [f"{name}: {', '.join(given) or 'nothing'}", facts, share.summary]
    return [*lines, *(f"- {reason.text}" for reason in share.reasons)]
