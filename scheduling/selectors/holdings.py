"""Which devices are held now, and by which jobs: read by pages that show whole machines."""

from dataclasses import dataclass

from scheduling.models import DeviceAllocation


@dataclass(frozen=True, slots=True)
class Holding:
    """A live part of one device. Whoever shows the job asks first whether the reader may see its project."""

    job_id: int
    job_name: str
    project_id: int
    project_name: str
    milli: int


def holdings_now() -> dict[int, list[Holding]]:
    """By device id: who holds it. A device that nobody holds is absent. One statement."""
    rows = DeviceAllocation.objects.filter(released_at__isnull=True).order_by("device_id", "pk")
    found: dict[int, list[Holding]] = {}
    for device_id, job_id, job_name, project_id, project_name, milli in rows.values_list(
        "device_id",
        "member__attempt__job_id",
        "member__attempt__job__name",
        "member__attempt__job__project_id",
        "member__attempt__job__project__name",
        "milli",
    ):
        holding = Holding(job_id, job_name, project_id, project_name, milli)
        found.setdefault(device_id, []).append(holding)
    return found
