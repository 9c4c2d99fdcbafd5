"""One leader decides: snapshot → decision → applied whole under locks, then the nodes are woken."""

import time
from dataclasses import dataclass
from datetime import datetime

import structlog

from inventory.models import Pool
from kernel import advisory, clock
from kernel.advisory import AdvisoryLock
from kernel.errors import LockTimeout
from kernel.unit import unit_of_work
from scheduling import past_use, wake
from scheduling.engine import decide
from scheduling.engine.model import JobState, Snapshot
from scheduling.policy import policy_now
from scheduling.services.apply import decision_apply
from scheduling.services.telling import decision_keep, reasons_tell
from scheduling.snapshot import load_snapshot

ROUNDS = 5
"""Decisions in a row when wishes keep coming or something no longer fitted; beat goes on from there."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Round:
    """What one decision did."""

    started: tuple[int, ...] = ()
    dropped: tuple[int, ...] = ()
    """Jobs whose start, or whose victims, no longer fitted when it was to be applied."""
    preempted: tuple[int, ...] = ()
    waiting: int = 0


def decide_and_apply(now: datetime) -> list[Round]:
    """Decide until nothing new has come in meanwhile. Returns the rounds; none if another leader is at it.

    Takes the leader's advisory lock, then locks projects, jobs and nodes of what starts and stops. Nothing is half
    applied: what no longer fits is dropped whole and decided again. A lock that cannot be had is left to the next
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


def _one_round(now: datetime) -> Round | None:
    began = time.process_time()
    with unit_of_work():
        if not advisory.take_if_free(AdvisoryLock.SCHEDULER):
            return None
        wake.take_wish()
        choices = policy_now().choices
        past_use.fold(now, choices.half_life_s)
        snapshot = load_snapshot(now, choices)
        if _is_idle(snapshot):
            return Round()
        policy = choices.engine(_longest_grace_s())
        decision = decide(snapshot, now.timestamp(), policy)
        applied = decision_apply(snapshot, decision, choices, now)
        news = reasons_tell(decision, applied, now, policy.grace_s)
        decision_keep(snapshot, decision, applied, news, now, time.process_time() - began)
    return Round(applied.started, applied.dropped, applied.preempted, len(decision.wait))


def _is_idle(snapshot: Snapshot) -> bool:
    """Nothing waits, nothing is kept for anybody, and no gang has lost members."""
    is_quiet = all(job.state != JobState.QUEUED and job.member_lost_at is None for job in snapshot.jobs)
    return is_quiet and not snapshot.earmarks


def _longest_grace_s() -> float:
    return float(max(Pool.objects.values_list("grace_s", flat=True), default=0))
