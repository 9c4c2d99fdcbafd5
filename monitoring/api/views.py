"""``telemetry/gpus/``, ``telemetry/jobs/{id}/``, ``telemetry/projects/{id}/``."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.policies import require_signed_in
from inventory.models import Device, DeviceState
from kernel import clock
from kernel.api.views import PortalViewSet
from kernel.errors import NotFound
from monitoring.api.filters import GpuFilter
from monitoring.api.present import measure_asked, present, present_gpu
from monitoring.api.serializers import GpuOutput, SeriesOutput
from monitoring.api.window import window_asked
from monitoring.engine.series import Series, without_running_gap
from monitoring.selectors.latest import gpus_latest, jobs_now, projects_now
from monitoring.selectors.series import (
    gpus_series,
    job_held,
    job_span,
    jobs_series,
    project_held,
    projects_series,
)
from monitoring.services import retention
from projects.policies import visible_to as visible_projects
from scheduling.selectors import visible_to as visible_jobs

WINDOW = [
    OpenApiParameter("from", str, description="Instant with zone; the start of the series."),
    OpenApiParameter("to", str, description="Instant with zone; its end."),
    OpenApiParameter("step", int, description="Seconds of one step, 10 to 86400; at most 2000 steps."),
    OpenApiParameter("measure", str, enum=["utilisation", "memory", "power"], description="What “series” shows."),
]
RECENT = timedelta(hours=1)
DAY = timedelta(hours=24)


class GpuTelemetryViewSet(PortalViewSet):
    """Every GPU with its newest values; with ``from``, ``to`` or ``step`` also its series."""

    queryset = Device.objects.none()
    filterset_class = GpuFilter
    ordering_fields = ("node__name", "index", "uuid")

    def get_queryset(self) -> QuerySet[Device]:
        require_signed_in(self.request.user)
        rows = Device.objects.exclude(state=DeviceState.RETIRED).select_related("node", "gpu_model")
        return rows.order_by("node__name", "index", "id")

    @extend_schema(parameters=WINDOW, responses=GpuOutput(many=True))
    def list(self, request: Request) -> Response:
        return self.listing(self.get_queryset(), self._present)

    def _present(self, devices: Sequence[Device]) -> Sequence[dict[str, Any]]:
        ids = [device.pk for device in devices]
        readings, asked = gpus_latest(ids), self.request.query_params
        series: dict[int, Series] = {}
        measure = measure_asked(asked)
        if {"from", "to", "step"} & set(asked):
            now = clock.now()
            series = gpus_series(ids, window_asked(asked, start=now - RECENT, end=now, series=len(ids)))
        return [present_gpu(device, readings.get(device.pk), series.get(device.pk), measure) for device in devices]


class JobTelemetryViewSet(PortalViewSet):
    """What the GPUs of a job did while it held them."""

    @extend_schema(parameters=WINDOW, responses=SeriesOutput)
    def retrieve(self, request: Request, pk: str) -> Response:
        """Without a window: from when the job first held a GPU until it let go of the last, or now."""
        job_id = int(pk)
        if not visible_jobs(require_signed_in(request.user)).filter(pk=job_id).exists():
            raise NotFound
        now = clock.now()
        first, last = job_span(job_id) or (now - RECENT, now)
        start = max(first, now - retention())
        window = window_asked(request.query_params, start=start, end=last or now)
        series = without_running_gap(jobs_series([job_id], window)[job_id], now)
        answer = present(series, measure_asked(request.query_params))
        held = jobs_now([job_id], only_live=False).get(job_id)
        return Response(
            {**answer, "held": job_held(job_id, series.window), "is_simulated": bool(held and held.is_simulated)}
        )


class ProjectTelemetryViewSet(PortalViewSet):
    """What the GPUs of a project did while it held them, each sample once."""

    @extend_schema(parameters=WINDOW, responses=SeriesOutput)
    def retrieve(self, request: Request, pk: str) -> Response:
        """Without a window: the last 24 hours."""
        project_id = int(pk)
        if not visible_projects(require_signed_in(request.user)).filter(pk=project_id).exists():
            raise NotFound
        now = clock.now()
        window = window_asked(request.query_params, start=now - DAY, end=now)
        series = without_running_gap(projects_series([project_id], window)[project_id], now)
        answer = present(series, measure_asked(request.query_params))
        held = projects_now([project_id], only_live=False).get(project_id)
        return Response(
            {
                **answer,
                "held": project_held(project_id, series.window),
                "is_simulated": bool(held and held.is_simulated),
            }
        )
