"""Load what the scheduler's engine sees from the database. Reads only; instants become seconds since the epoch."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from inventory.models import GpuModel
from inventory.selectors import capacity_at
from scheduling.engine.model import MILLI, Earmark, Snapshot
from scheduling.models import Earmark as EarmarkRow
from scheduling.policy import Choices
from scheduling.snapshot.jobs import load_jobs
from scheduling.snapshot.nodes import load_nodes
from scheduling.snapshot.parties import Parties, load_parties
from scheduling.states import JobState

__all__ = ["Parties", "instant_of", "load_parties", "load_snapshot"]


def load_snapshot(at: datetime, choices: Choices) -> Snapshot:
    """Nodes, jobs, projects and groups as they are now. A fixed number of statements, whatever there is."""
    names = dict(GpuModel.objects.values_list("pk", "name"))
    nodes = load_nodes(at, names)
    jobs = load_jobs(at, choices, names, nodes)
    parties = load_parties({job.project for job in jobs}, at, choices, names)
    return Snapshot(
        nodes=nodes,
        jobs=tuple(parties.with_grant(job) for job in jobs),
        projects=parties.projects,
        groups=parties.groups,
        reserve={names[pk]: capacity.reserve * MILLI for pk, capacity in capacity_at(at).items() if capacity.reserve},
        earmarks=_earmarks(),
    )


def instant_of(seconds: float) -> datetime:
    """The instant that the engine's seconds say."""
    return _EPOCH + timedelta(seconds=seconds)


_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


def _earmarks() -> tuple[Earmark, ...]:
    """Of jobs that still wait: what belonged to others is free."""
    rows: Iterable[tuple[int, int, int, datetime]] = (
        EarmarkRow.objects.filter(job__state=JobState.QUEUED)
        .order_by("job_id", "node_id")
        .values_list("job_id", "node_id", "milli", "since")
    )
    return tuple(Earmark(job, node, milli, since.timestamp()) for job, node, milli, since in rows)
