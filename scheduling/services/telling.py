"""Tell each waiting job why, and keep what a decision changed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection

from scheduling.engine.model import Decision, Earmark, Snapshot, Wait
from scheduling.engine.reasons import releasing
from scheduling.models import Decision as DecisionRow
from scheduling.models import Job
from scheduling.services.apply import Applied
from scheduling.snapshot import instant_of
from scheduling.states import JobState

DECISIONS_KEPT = timedelta(days=30)
MANY = 500
"""Of more changed reasons than these, those in which only amounts have changed may wait …"""
REFRESH = timedelta(seconds=60)
"""… until they have been told for so long."""
_SAME_S = 60
"""An expected start that moved by less is the same."""


@dataclass(frozen=True, slots=True)
class Telling:
    """A waiting job's reason as its row keeps it, and whether more than its amounts is new."""

    wait: Wait
    is_new: bool

    def plain(self, now: datetime) -> dict[str, Any]:
        data = {"needs": _plain(self.wait.needs), "until": _iso(self.wait.until), "at": now.isoformat()}
        return {"id": self.wait.job, "text": self.wait.text, "code": self.wait.reason, "data": data}


def reasons_tell(decision: Decision, applied: Applied, now: datetime, grace_s: float) -> list[Telling]:
    """Write each waiting job's reason where it has changed, and return what is new. Who starts once others have
    stopped waits for that.

    A job that has left the queue meanwhile, or that somebody holds, is left alone: waiting for it here, with the
    started jobs locked, would be out of the one order of locks. The next decision tells it.
    """
    said = releasing(now.timestamp() + grace_s)
    after = [start for start in decision.start if start.after and start.job not in applied.dropped]
    waits = {
        start.job: Wait(start.job, said.reason, said.text, {**said.needs, "after": list(start.after)}, said.until)
        for start in after
    }
    waits |= {wait.job: wait for wait in decision.wait}
    changed = {telling.wait.job: telling for telling in _changed(waits, now)}
    if not changed:
        return []
    queued = Job.objects.filter(pk__in=changed, state=JobState.QUEUED).order_by("pk")
    free = list(queued.select_for_update(skip_locked=True, no_key=True).values_list("pk", flat=True))
    rows = json.dumps([changed[pk].plain(now) for pk in free], cls=DjangoJSONEncoder)
    with connection.cursor() as cursor:
        cursor.execute(_TELL, [rows])
    return [changed[pk] for pk in free if changed[pk].is_new]


def decision_keep(
    snapshot: Snapshot, decision: Decision, applied: Applied, news: Sequence[Telling], now: datetime, cpu_seconds: float
) -> None:
    """Store what the decision changed, if it changed anything."""
    stopped = [
        {"job": preempt.job, "for": preempt.by, "lost_gpu_seconds": round(preempt.lost_gpu_seconds)}
        for preempt in decision.preempt
        if preempt.job in applied.preempted
    ]
    if not (applied.started or stopped or applied.has_new_earmarks or news):
        return
    names = {node.id: node.name for node in snapshot.nodes}
    DecisionRow.objects.create(
        decided_at=now,
        started=_started(decision, applied, names),
        preempted=stopped,
        earmarks=[_earmark(mark, names) for mark in applied.earmarks] if applied.has_new_earmarks else None,
        waiting=[_told(telling.wait) for telling in news],
        queued_jobs=len(decision.wait) + len(decision.start),
        cpu_seconds=cpu_seconds,
    )


def decisions_forget(now: datetime) -> int:
    """Delete decisions that are too old and return how many; each job's own reason and history stay."""
    return DecisionRow.objects.filter(decided_at__lt=now - DECISIONS_KEPT).delete()[0]


def _changed(waits: Mapping[int, Wait], now: datetime) -> list[Telling]:
    rows = Job.objects.filter(state=JobState.QUEUED).values_list("pk", "reason", "reason_code", "reason_data")
    found, old = [], []
    for pk, text, code, data in rows:
        wait = waits.get(pk)
        if wait is None or _is_told(wait, text, code, data):
            continue
        is_new = code != wait.reason or _kinds(data.get("needs", {})) != _kinds(wait.needs)
        found.append(Telling(wait, is_new))
        old.append(data.get("at", ""))
    if len(found) <= MANY:
        return found
    fresh = (now - REFRESH).isoformat()
    return [telling for telling, at in zip(found, old, strict=True) if telling.is_new or at <= fresh]


def _is_told(wait: Wait, text: str, code: str, data: Mapping[str, Any]) -> bool:
    if code != wait.reason or text != wait.text or data.get("needs") != _plain(wait.needs):
        return False
    told = data.get("until")
    if told is None or wait.until is None:
        return told is None and wait.until is None
    return abs(datetime.fromisoformat(told).timestamp() - wait.until) < _SAME_S


def _kinds(needs: Mapping[str, Any]) -> list[str]:
    return [str(gate.get("kind")) for gate in needs.get("gates", ())]


def _plain(needs: Mapping[str, Any]) -> Any:
    """As it comes back from the database."""
    return json.loads(json.dumps(needs, cls=DjangoJSONEncoder))


def _iso(seconds: float | None) -> str | None:
    return None if seconds is None else instant_of(round(seconds)).isoformat()


def _told(wait: Wait) -> dict[str, Any]:
    return {
        "job": wait.job,
        "reason": wait.reason,
        "text": wait.text,
        "needs": _plain(wait.needs),
        "until": _iso(wait.until),
    }


def _started(decision: Decision, applied: Applied, names: Mapping[int, str]) -> list[dict[str, Any]]:
    return [
        {
            "job": start.job,
            "gpu_model": start.gpu_model,
            "placement": {
                names[node]: {str(device): milli for device, milli in sorted(devices.items())}
                for node, devices in start.placement.items()
            },
        }
        for start in decision.start
        if start.job in applied.started
    ]


def _earmark(mark: Earmark, names: Mapping[int, str]) -> dict[str, Any]:
    return {"job": mark.job, "node": names.get(mark.node, str(mark.node)), "milli": mark.milli}


_TELL = """
    UPDATE scheduling_job AS job SET reason = told.text, reason_code = told.code, reason_data = told.data
    FROM jsonb_to_recordset(%s::jsonb) AS told(id bigint, text text, code text, data jsonb)
    WHERE job.id = told.id AND job.state = 'queued'
"""
