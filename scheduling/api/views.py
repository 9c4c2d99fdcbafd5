"""``jobs/``: what people and programs do with jobs."""

from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import Scope
from accounts.policies import require_signed_in
from kernel.api.query import whole_number
from kernel.api.schema import problems
from kernel.api.views import PortalViewSet
from scheduling import services
from scheduling.api.filters import jobs_filtered
from scheduling.api.present import present_events, present_job, present_rows
from scheduling.api.serializers import (
    EventOutput,
    JobFields,
    JobInput,
    JobOutput,
    JobRowOutput,
    LaunchCheckOutput,
    ReasonInput,
    SwitchInput,
    SwitchOutput,
    changes_from,
    spec_from,
)
from scheduling.launch_check import blocks
from scheduling.models import Job
from scheduling.selectors import job_detail, job_events, job_for, listed, log_read
from scheduling.selectors.checks import launch_check_for
from scheduling.selectors.progress import log_end, with_start

MAX_LOG_BYTES = 4 * 1024 * 1024
LOG_BYTES = 1024 * 1024
FILTERS = [
    OpenApiParameter("project", int, description="Id of the project."),
    OpenApiParameter("state", str, description="One state, or several with commas."),
    OpenApiParameter("owner", str, description="“me”, or a user name."),
    OpenApiParameter("q", str, description="Part of the name, or the id."),
    OpenApiParameter("ordering", str, description="Keys with commas, “-” for descending."),
]
LOG_PARAMETERS = [
    OpenApiParameter("offset", int, description="First byte; default 0."),
    OpenApiParameter("limit", int, description=f"Bytes at most; default {LOG_BYTES}, at most {MAX_LOG_BYTES}."),
]
Act = Callable[..., Job]


class JobViewSet(PortalViewSet):
    """Jobs of the projects that the person may see."""

    queryset = Job.objects.none()
    writing_scope = Scope.JOBS
    ordering_fields = ("id", "name", "state", "priority", "submitted_at", "queued_at", "ended_at")

    def get_queryset(self) -> QuerySet[Job]:
        return listed(require_signed_in(self.request.user))

    @extend_schema(parameters=FILTERS, responses=JobRowOutput(many=True))
    def list(self, request: Request) -> Response:
        """Newest first."""
        person = require_signed_in(request.user)
        rows = jobs_filtered(self.get_queryset(), request.query_params, person)
        return self.listing(with_start(rows), present_rows)

    @extend_schema(request=JobInput, responses={201: JobOutput, **problems(404)})
    def create(self, request: Request) -> Response:
        """Submit a job. 422 names what is malformed and what the pre-launch check blocks."""
        values = self.parse(JobInput)
        job = services.job_submit(
            actor=require_signed_in(request.user), project_id=values["project"], spec=spec_from(values)
        )
        return Response(self._whole(job.pk), status=201)

    @extend_schema(responses=JobOutput)
    def retrieve(self, request: Request, pk: str) -> Response:
        return Response(self._whole(int(pk)))

    @extend_schema(request=ReasonInput, responses=JobOutput)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str) -> Response:
        """Take it out of the queue, or stop it by the graceful path."""
        return self._act(services.job_cancel, pk)

    @extend_schema(request=ReasonInput, responses=JobOutput)
    @action(detail=True, methods=["post"])
    def pause(self, request: Request, pk: str) -> Response:
        """Hold a waiting job back, or stop a running one so that it can go on later."""
        return self._act(services.job_pause, pk)

    @extend_schema(request=ReasonInput, responses=JobOutput)
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: str) -> Response:
        """Queue a paused job again."""
        return self._act(services.job_resume, pk)

    @extend_schema(request=ReasonInput, responses=JobOutput)
    @action(detail=True, methods=["post"])
    def requeue(self, request: Request, pk: str) -> Response:
        """Queue a failed, cancelled or timed-out job again, with all its retries."""
        return self._act(services.job_requeue, pk)

    @extend_schema(request=JobFields, responses={201: JobOutput})
    @action(detail=True, methods=["post"])
    def clone(self, request: Request, pk: str) -> Response:
        """Submit the same again, with the fields of the body changed."""
        self._job(pk)
        changes = changes_from(self.parse(JobFields, partial=True))
        job = services.job_clone(actor=require_signed_in(request.user), job_id=int(pk), changes=changes)
        return Response(self._whole(job.pk), status=201)

    @extend_schema(request=JobInput, responses={200: LaunchCheckOutput, **problems(404)})
    @action(detail=False, methods=["post"], url_path="launch-check", url_name="launch-check")
    def launch_check(self, request: Request) -> Response:
        """What the pre-launch check would say; nothing is submitted."""
        values = self.parse(JobInput)
        person = require_signed_in(request.user)
        items = launch_check_for(actor=person, project_id=values["project"], spec=spec_from(values))
        return Response({"can_submit": not blocks(items), "items": [item.plain() for item in items]})

    @extend_schema(request=SwitchInput, responses={200: SwitchOutput, **problems(404)})
    @action(detail=False, methods=["post"])
    def preemptible(self, request: Request) -> Response:
        """Make every waiting job of a project preemptible, or no longer so; what runs stays as it started."""
        values = self.parse(SwitchInput)
        switched = services.jobs_switch(
            actor=require_signed_in(request.user),
            project_id=values["project"],
            is_preemptible=values["preemptible"],
            reason=values.get("reason", ""),
        )
        return Response({"jobs": switched})

    @extend_schema(
        parameters=LOG_PARAMETERS,
        responses={(200, "text/plain"): OpenApiResponse(OpenApiTypes.STR, description="Bytes from “offset”.")},
    )
    @action(detail=True, methods=["get"])
    def log(self, request: Request, pk: str) -> HttpResponse:
        """The log's bytes. ``X-Next-Offset``: where to go on; ``X-Log-Complete``: whether that is all."""
        job = self._job(pk)
        offset = self._count("offset", 0, 10**18)
        part = log_read(job.pk, offset, self._count("limit", LOG_BYTES, MAX_LOG_BYTES))
        end = log_end(job.pk)
        answer = HttpResponse(part.data, content_type="text/plain; charset=utf-8")
        answer["X-Next-Offset"] = str(part.next_offset)
        answer["X-Log-Complete"] = "true" if end.is_complete and part.next_offset >= end.size else "false"
        return answer

    @extend_schema(responses=EventOutput(many=True))
    @action(detail=True, methods=["get"])
    def events(self, request: Request, pk: str) -> Response:
        """Every step of the job's state and of its attempts, oldest first."""
        page = self.paginate_queryset(job_events(self._job(pk)))
        return self.get_paginated_response(present_events(page or []))

    def _act(self, service: Act, pk: str) -> Response:
        self._job(pk)
        reason = self.parse(ReasonInput).get("reason", "")
        service(actor=require_signed_in(self.request.user), job_id=int(pk), reason=reason)
        return Response(self._whole(int(pk)))

    def _job(self, pk: str) -> Job:
        return job_for(require_signed_in(self.request.user), int(pk))

    def _whole(self, job_id: int) -> dict[str, Any]:
        return present_job(job_detail(require_signed_in(self.request.user), job_id), log_end(job_id).size)

    def _count(self, name: str, default: int, most: int) -> int:
        raw = self.request.query_params.get(name)
        if raw is None:
            return default
        return whole_number(name, raw, 0, most)
