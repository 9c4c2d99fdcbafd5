"""The API of what projects measured on each GPU model, and what counts."""

from collections.abc import Callable
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from kernel.errors import NotFound
from projects import policies, services, suitability
from projects.api import present
from projects.api import serializers as fields
from projects.api.views import PROJECT_ID, OfProjectViewSet
from projects.models import Measurement, Project

MEASUREMENT_ID = OpenApiParameter("id", OpenApiTypes.INT, OpenApiParameter.PATH, description="The measurement's id.")


@extend_schema(parameters=[PROJECT_ID])
class SuitabilityViewSet(OfProjectViewSet):
    """How fast each GPU model is for one project; what was stated is addressed by the measurement's id."""

    serializer_class = fields.MeasurementOutput

    @extend_schema(responses=fields.SuitabilityOutput(many=True))
    def list(self, request: Request, project_id: str) -> Response:
        """What counts now for each GPU model and what is proposed, fastest model first."""
        page = self.paginate_queryset(suitability.model_lines(self.project("read")))
        return self.get_paginated_response([present.suitability(line) for line in page or []])

    @extend_schema(responses=fields.MeasurementOutput(many=True))
    @action(detail=False, methods=["get"])
    def history(self, request: Request, project_id: str) -> Response:
        """Everything that was ever stated, newest first."""
        page = self.paginate_queryset(suitability.measurements(self.project("read")))
        return self.get_paginated_response([present.measurement(row) for row in page or []])

    @extend_schema(request=fields.MeasurementInput, responses={201: fields.MeasurementOutput})
    def create(self, request: Request, project_id: str) -> Response:
        """State a throughput, or that the model cannot be used; leads. It counts once an admin has confirmed it."""
        project = self.project("measure")
        stated = fields.measured(self.parse(fields.MeasurementInput))
        row = services.measurement_state(actor=self.me(), project_id=project.pk, stated=stated)
        return Response(self.plain(project, row.pk), status=status.HTTP_201_CREATED)

    @extend_schema(parameters=[MEASUREMENT_ID])
    def retrieve(self, request: Request, project_id: str, pk: str) -> Response:
        """One measurement in any state."""
        return Response(self.plain(self.project("read"), int(pk)))

    @extend_schema(parameters=[MEASUREMENT_ID], request=fields.StepInput)
    @action(detail=True, methods=["post"])
    def confirm(self, request: Request, project_id: str, pk: str) -> Response:
        """An admin's act, never for the project's own people. What counted for the model before is superseded."""
        return self.stepped("judge_measurement", services.measurement_confirm)

    @extend_schema(parameters=[MEASUREMENT_ID], request=fields.StepInput)
    @action(detail=True, methods=["post"])
    def reject(self, request: Request, project_id: str, pk: str) -> Response:
        """Needs a reason; as ``confirm``."""
        return self.stepped("judge_measurement", services.measurement_reject)

    @extend_schema(parameters=[MEASUREMENT_ID], request=fields.StepInput)
    @action(detail=True, methods=["post"])
    def revoke(self, request: Request, project_id: str, pk: str) -> Response:
        """Let a confirmed one count no more. Needs a reason; as ``confirm``."""
        return self.stepped("judge_measurement", services.measurement_revoke)

    @extend_schema(parameters=[MEASUREMENT_ID], request=fields.StepInput)
    @action(detail=True, methods=["post"])
    def withdraw(self, request: Request, project_id: str, pk: str) -> Response:
        """Take back what still waits; leads."""
        return self.stepped("measure", services.measurement_withdraw)

    def stepped(self, needed: policies.Action, service: Callable[..., Measurement]) -> Response:
        """One step by its service, on a measurement of this project and no other."""
        project = self.project(needed)
        row = self.found(project, int(self.kwargs["pk"]))
        reason = fields.reason_in(self.parse(fields.StepInput))
        service(actor=self.me(), measurement_id=row.pk, reason=reason)
        return Response(self.plain(project, row.pk))

    def found(self, project: Project, measurement_id: int) -> Measurement:
        row = suitability.measurements(project).filter(pk=measurement_id).first()
        if row is None:
            raise NotFound
        return row

    def plain(self, project: Project, measurement_id: int) -> dict[str, Any]:
        """Read again, as it is now."""
        return present.measurement(self.found(project, measurement_id))
