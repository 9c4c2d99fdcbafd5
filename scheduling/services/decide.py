"""One leader decides: snapshot → decision → applied whole under locks, then the nodes are woken."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import structlog

from kernel import advisory, clock
from kernel.advisory import AdvisoryLock
from kernel.errors import LockTimeout
from kernel.unit import unit_of_work
from scheduling import wake
from scheduling.engine import Decision, Policy, Snapshot, Wait, decide
from scheduling.models import Decision as DecisionRow
from scheduling.models import Job
from scheduling.services.apply import Applied, starts_apply
from scheduling.snapshot import load_snapshot
from scheduling.states import JobState

ROUNDS = 5
"""Decisions in a row when wishes keep coming or a start no longer fitted; beat goes on from there."""
DECISIONS_KEPT = timedelta(days=30)
_REASON = ("reason", "reason_code", "reason_data")

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Round:
    """What one decision did."""

    started: tuple[int, ...]
    dropped: tuple[int, ...]
    """Jobs whose start no longer fitted when it was to be applied."""
    waiting: int


def decide_and_apply(now: datetime) -> list[Round]:
    """Decide until nothing new has come in meanwhile. Returns the rounds; none if another leader is at it.

    Takes the leader's advisory lock, then locks projects, jobs and nodes of what starts. Nothing is half applied:
    a start that no longer fits is dropped whole and decided again. A lock that cannot be had is left to the next
    tick.
    """
    rounds: list[Round] = []
    try:
        for _ in range(ROUNDS):
            done = _one_round(max(now, clock.now()))
            if done is None:
                break
            rounds.append(done)
            if not (wake.is_wished() or done.dropped):
                break
    except LockTimeout:
        _log.warning("decision_put_off", reason="a row was held by someone else")
        wake.wake_scheduler()
    return rounds


def decisions_forget(now: datetime) -> int:
    """Delete decisions that are too old and return how many; each job's own reason and history stay."""
    return DecisionRow.objects.filter(decided_at__lt=now - DECISIONS_KEPT).delete()[0]


def _one_round(now: datetime) -> Round | None:
    began = time.process_time()
    with unit_of_work():
        if not advisory.take_if_free(AdvisoryLock.SCHEDULER):
            return None
        wake.take_wish()
        snapshot = load_snapshot(now)
        if not snapshot.queue:
            return Round((), (), 0)
        decision = decide(snapshot, now, Policy())
        applied = starts_apply(snapshot, decision, now)
        _write_reasons(decision)
        _keep(snapshot, decision, applied, now, time.process_time() - began)
    return Round(applied.started, applied.dropped, len(decision.wait))


def _write_reasons(decision: Decision) -> None:
    """Tell each waiting job why, where that has changed.

    A job that has left the queue meanwhile, or that somebody holds, is left alone: waiting for it here, with the
    started jobs locked, would be out of the one order of locks. The next decision tells it.
    """
    waits = {wait.job: _fields(wait) for wait in decision.wait}
    rows = Job.objects.filter(pk__in=waits, state=JobState.QUEUED).values_list("pk", *_REASON)
    news = [pk for pk, *told in rows if told != [waits[pk][name] for name in _REASON]]
    queued = Job.objects.filter(pk__in=news, state=JobState.QUEUED).order_by("pk")
    changed = list(queued.select_for_update(skip_locked=True, no_key=True)) if news else []
    for job in changed:
        for name, value in waits[job.pk].items():
            setattr(job, name, value)
    if changed:
        Job.objects.bulk_update(changed, _REASON, batch_size=500)


def _fields(wait: Wait) -> dict[str, Any]:
    until = wait.until.isoformat() if wait.until else None
    data = {"needs": dict(wait.needs), "until": until}
    return {"reason": wait.text, "reason_code": wait.reason, "reason_data": data}


def _keep(snapshot: Snapshot, decision: Decision, applied: Applied, now: datetime, cpu_seconds: float) -> None:
    """Store the decision if it says anything that the one before did not."""
    waiting = [_plain(wait) for wait in decision.wait]
    last = DecisionRow.objects.order_by("-pk").first()
    if not applied.started and last is not None and last.waiting == waiting:
        return
    names = {node.id: node.name for node in snapshot.nodes}
    started = [
        {"job": start.job, "gpu_model": start.gpu_model, "placement": _named(start.placement, names)}
        for start in decision.start
        if start.job in applied.started
    ]
    DecisionRow.objects.create(
        decided_at=now,
        started=started,
        waiting=waiting,
        queued_jobs=len(snapshot.queue),
        cpu_seconds=cpu_seconds,
    )


def _plain(wait: Wait) -> dict[str, Any]:
    until = wait.until.isoformat() if wait.until else None
    needs = dict(wait.needs)
    return {"job": wait.job, "reason": wait.reason, "text": wait.text, "needs": needs, "until": until}


def _named(placement: Mapping[int, Mapping[int, int]], names: Mapping[int, str]) -> dict[str, dict[str, int]]:
    return {
        names[node]: {str(device): milli for device, milli in devices.items()} for node, devices in placement.items()
    }
