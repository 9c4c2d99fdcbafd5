"""What projects used of each GPU model, decayed: recent hours count more, those of a half-life ago count half.

Of a piece of ``milli`` from a to b, what is left at t is milli × ∫ 2^−(t−s)/H ds over [a, b), exactly. Time that was
lost to an interruption is taken off by the same rule. What was released long enough ago lies summed in ``PastUse``;
the deciding leader moves that line on from time to time, so that a decision reads only what is held or was released
since.
"""

import math
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

from django.db import connection
from django.db.models import F, Min

from scheduling.models import PastUse

SETTLES = timedelta(minutes=10)
"""A release is written a moment before it commits: what is older than this has committed."""
FOLD_EVERY = timedelta(minutes=20)
BEGINNING = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
_PARTS = 1_000_000
"""Past use is said in millionths of the capacity: fractions with small denominators add up fast."""


@dataclass(frozen=True, slots=True)
class Used:
    """By project and GPU model, and by GPU model: decayed milli-GPU-seconds."""

    projects: dict[tuple[int, int], float]
    capacity: dict[int, float]

    def part(self, milli_seconds: float, model: int) -> Fraction:
        """The part of the model's capacity that this is; 0 of a model that never had any."""
        capacity = self.capacity.get(model, 0.0)
        if capacity <= 0 or milli_seconds <= 0:
            return Fraction(0)
        return Fraction(round(milli_seconds / capacity * _PARTS), _PARTS)


def used_until(at: datetime, half_life_s: int) -> Used:
    """What was used and lost until now, and what there was to use. Two statements, after ``fold``."""
    rate = math.log(2) / half_life_s
    given: dict[str, Any] = {"at": at, "rate": rate, "beginning": BEGINNING}
    projects: defaultdict[tuple[int, int], float] = defaultdict(float)
    with connection.cursor() as cursor:
        cursor.execute(_USED, given)
        for project, model, amount in cursor.fetchall():
            projects[(project, model)] += amount
        cursor.execute(_CAPACITY, given)
        capacity = dict(cursor.fetchall())
    return Used(dict(projects), capacity)


def fold(at: datetime, half_life_s: int) -> bool:
    """Move the line of what lies summed, if that is due or the half-life has changed. In the leader's transaction."""
    kept = PastUse.objects.aggregate(through=Min("through"), half_life_s=Min("half_life_s"))
    line = at - SETTLES
    if kept["half_life_s"] not in (None, half_life_s):
        PastUse.objects.all().delete()
        kept["through"] = None
    if kept["through"] is not None and kept["through"] > at - FOLD_EVERY:
        return False
    rate = math.log(2) / half_life_s
    since = kept["through"] or BEGINNING
    decay = math.exp(-rate * (line - since).total_seconds())
    PastUse.objects.update(milli_gpu_seconds=F("milli_gpu_seconds") * decay, through=line)
    given: dict[str, Any] = {"at": line, "since": since, "rate": rate, "half_life_s": half_life_s}
    with connection.cursor() as cursor:
        cursor.execute(_FOLD, given)
    return True


# PostgreSQL refuses an exponential that is too small for a number; beyond −600 it is nothing all the same.
_LEFT = """(
    exp(greatest(-600, -%(rate)s * extract(epoch FROM %(at)s - least(piece.until, %(at)s))::float8))
    - exp(greatest(-600, -%(rate)s * extract(epoch FROM %(at)s - least(piece.since, %(at)s))::float8))
) / %(rate)s"""

_HELD = """
    SELECT job.project_id, attempt.gpu_model_id, allocation.milli, allocation.allocated_at AS since,
        coalesce(member.ended_at, allocation.released_at, %(at)s) AS until
    FROM scheduling_deviceallocation AS allocation
    JOIN scheduling_attemptmember AS member ON member.id = allocation.member_id
    JOIN scheduling_attempt AS attempt ON attempt.id = member.attempt_id
    JOIN scheduling_job AS job ON job.id = attempt.job_id
"""
_LOST = """
    SELECT job.project_id, attempt.gpu_model_id, -lost.milli_gpus, lost.lost_from, lost.ended_at
    FROM scheduling_interruption AS lost
    JOIN scheduling_attempt AS attempt ON attempt.id = lost.attempt_id
    JOIN scheduling_job AS job ON job.id = lost.job_id
    WHERE lost.lost_milli_gpu_seconds > 0
"""

_USED = f"""
    WITH line AS (SELECT coalesce(max(through), %(beginning)s) AS through FROM scheduling_pastuse),
    piece AS (
        {_HELD} WHERE allocation.released_at IS NULL OR allocation.released_at >= (SELECT through FROM line)
        UNION ALL {_LOST} AND lost.ended_at >= (SELECT through FROM line)
    )
    SELECT project_id, gpu_model_id, sum(milli * {_LEFT}) FROM piece GROUP BY 1, 2
    UNION ALL
    SELECT project_id, gpu_model_id, milli_gpu_seconds
        * exp(greatest(-600, -%(rate)s * extract(epoch FROM %(at)s - through)::float8))
    FROM scheduling_pastuse
"""  # noqa: S608 - constants only

_FOLD = f"""
    INSERT INTO scheduling_pastuse (project_id, gpu_model_id, milli_gpu_seconds, through, half_life_s)
    SELECT project_id, gpu_model_id, sum(milli * {_LEFT}), %(at)s, %(half_life_s)s FROM (
        {_HELD} WHERE allocation.released_at >= %(since)s AND allocation.released_at < %(at)s
        UNION ALL {_LOST} AND lost.ended_at >= %(since)s AND lost.ended_at < %(at)s
    ) AS piece GROUP BY 1, 2
    ON CONFLICT (project_id, gpu_model_id)
        DO UPDATE SET milli_gpu_seconds = scheduling_pastuse.milli_gpu_seconds + excluded.milli_gpu_seconds
"""  # noqa: S608 - constants only

_CAPACITY = f"""
    SELECT piece.gpu_model_id, sum(1000 * piece.gpus * {_LEFT}) FROM (
        SELECT gpu_model_id, gpus, coalesce(lower(during), %(beginning)s) AS since,
            coalesce(upper(during), %(at)s) AS until
        FROM inventory_capacityfact WHERE lower(during) < %(at)s
    ) AS piece GROUP BY 1
"""  # noqa: S608 - constants only
