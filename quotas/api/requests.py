"""Quota requests over the API: drafted, submitted, withdrawn, asked for again, with their files."""

import base64
import binascii
from typing import Any

import django_filters
from django.db.models import Q, QuerySet
from django.http import HttpResponse
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.actor import PersonActsViewSet
from kernel.api.schema import problems
from kernel.downloads import attachment
from kernel.errors import Invalid, NotFound
from quotas import services
from quotas.api import request_present as present
from quotas.api import request_serializers as serializers
from quotas.api.views import model_id
from quotas.models import QuotaRequest
from quotas.requests.selectors import listed_requests, visible_attachment, visible_requests
from quotas.services import RequestFacts
from quotas.states import RequestState

FILE = r"attachments/(?P<attachment_id>[0-9]{1,18})"


class RequestFilter(django_filters.FilterSet):  # type: ignore[misc]  # the package has no types
    project = django_filters.NumberFilter(field_name="project_id")
    state = django_filters.ChoiceFilter(choices=RequestState.choices)
    gpu_model = django_filters.CharFilter(field_name="gpu_model__name")
    mine = django_filters.BooleanFilter(method="of_caller", label="Drafted or submitted by the caller.")

    def of_caller(self, rows: QuerySet[QuotaRequest], _name: str, value: bool) -> QuerySet[QuotaRequest]:
        mine = Q(created_by=self.request.user) | Q(submitted_by=self.request.user)
        return rows.filter(mine) if value else rows.exclude(mine)


class QuotaRequestViewSet(PersonActsViewSet):
    """What projects ask for. Decided through ``approvals/``."""

    queryset = QuotaRequest.objects.none()
    serializer_class = serializers.RequestOutput
    filterset_class = RequestFilter
    ordering_fields = ("created_at", "updated_at", "submitted_at", "state", "guaranteed", "starts_at", "ends_at")

    def get_queryset(self) -> QuerySet[QuotaRequest]:
        return visible_requests(self.request.user)

    @extend_schema(responses={200: serializers.RequestRowOutput(many=True), **problems(422)})
    def list(self, request: Request) -> Response:
        """Newest first. Drafts that were given up are left out."""
        return self.listing(listed_requests(request.user), present.rows)

    @extend_schema(responses={200: serializers.RequestOutput, **problems(404)})
    def retrieve(self, request: Request, pk: str) -> Response:
        return self._answer(int(pk))

    @extend_schema(
        request=serializers.RequestInput, responses={201: serializers.RequestOutput, **problems(403, 404, 409, 422)}
    )
    def create(self, request: Request) -> Response:
        """A draft. Leads of an active project."""
        data = self.parse(serializers.RequestInput)
        project = data.pop("project")
        row = services.request_create(actor=self.actor, project_id=project, facts=_facts(data))
        return self._answer(row.pk, 201)

    @extend_schema(
        request=serializers.RequestPatch, responses={200: serializers.RequestOutput, **problems(403, 404, 409, 422)}
    )
    def partial_update(self, request: Request, pk: str) -> Response:
        """Change a draft, or a request that was asked back."""
        found = self._visible(int(pk))
        data = self.parse(serializers.RequestPatch, partial=True)
        seen = data.pop("seen", None)
        services.request_edit(actor=self.actor, request_id=found.pk, facts=_facts(data), seen=seen)
        return self._answer(found.pk)

    @extend_schema(
        request=serializers.RequestSubmitInput,
        responses={200: serializers.RequestOutput, **problems(403, 404, 409, 422)},
    )
    @action(detail=True, methods=["post"])
    def submit(self, request: Request, pk: str) -> Response:
        """Ask for a decision; where the policy says so it is granted at once."""
        found = self._visible(int(pk))
        data = self.parse(serializers.RequestSubmitInput)
        services.request_submit(actor=self.actor, request_id=found.pk, answer=data["answer"])
        return self._answer(found.pk)

    @extend_schema(
        request=serializers.WithdrawInput, responses={200: serializers.RequestOutput, **problems(403, 404, 409, 422)}
    )
    @action(detail=True, methods=["post"])
    def withdraw(self, request: Request, pk: str) -> Response:
        """Take back what is not decided, or give up a draft."""
        found = self._visible(int(pk))
        data = self.parse(serializers.WithdrawInput)
        services.request_withdraw(actor=self.actor, request_id=found.pk, reason=data["reason"])
        return self._answer(found.pk)

    @extend_schema(request=None, responses={201: serializers.RequestOutput, **problems(403, 404, 409)})
    @action(detail=True, methods=["post"])
    def clone(self, request: Request, pk: str) -> Response:
        """A new draft that asks for the same, without what of its window has passed and without its files."""
        found = self._visible(int(pk))
        return self._answer(services.request_clone(actor=self.actor, request_id=found.pk).pk, 201)

    @extend_schema(
        operation_id="quota_requests_attachments_list",
        responses={200: serializers.AttachmentOutput(many=True), **problems(404)},
        filters=False,
    )
    @action(detail=True, methods=["get"], filterset_class=None)
    def attachments(self, request: Request, pk: str) -> Response:
        """Its files, without their bytes."""
        rows = self._visible(int(pk)).attachments.select_related("added_by")
        page = self.paginate_queryset(rows)
        return self.get_paginated_response([present.attachment(row) for row in page or []])

    @extend_schema(
        request=serializers.AttachmentInput,
        responses={201: serializers.AttachmentOutput, **problems(403, 404, 409, 422)},
    )
    @attachments.mapping.post
    def attach(self, request: Request, pk: str) -> Response:
        """Add a file to a draft, or to a request that was asked back: PDF, PNG, JPEG, CSV, TXT, MD or XLSX."""
        found = self._visible(int(pk))
        data = self.parse(serializers.AttachmentInput)
        content = _bytes(data["content"])
        made = services.attachment_add(actor=self.actor, request_id=found.pk, name=data["name"], content=content)
        return Response(present.attachment(made), status=201)

    @extend_schema(responses={(200, "application/octet-stream"): OpenApiResponse(OpenApiTypes.BINARY), **problems(404)})
    @action(detail=True, methods=["get"], url_path=FILE)
    def file(self, request: Request, pk: str, attachment_id: str) -> HttpResponse:
        """The bytes of a file, to be kept and not shown."""
        row = visible_attachment(request.user, int(pk), int(attachment_id))
        if row is None:
            raise NotFound
        return attachment(bytes(row.content), row.content_type, row.name)

    @extend_schema(request=None, responses={204: None, **problems(403, 404, 409)})
    @file.mapping.delete
    def detach(self, request: Request, pk: str, attachment_id: str) -> Response:
        """Remove a file from a draft, or from a request that was asked back."""
        found = self._visible(int(pk))
        services.attachment_remove(actor=self.actor, request_id=found.pk, attachment_id=int(attachment_id))
        return Response(status=204)

    def _visible(self, pk: int) -> QuotaRequest:
        found = self.get_queryset().filter(pk=pk).first()
        if found is None:
            raise NotFound
        return found

    def _answer(self, pk: int, status: int = 200) -> Response:
        return Response(present.whole(self._visible(pk), self.actor), status=status)


def _facts(data: dict[str, Any]) -> RequestFacts:
    """The stated fields as the services take them; a model by its name or id."""
    facts: RequestFacts = {}
    for name, value in data.items():
        if name == "gpu_model":
            facts["gpu_model_id"] = model_id(value)
        else:
            facts[name] = value  # type: ignore[literal-required]  # the serializer's fields are its keys
    return facts


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise Invalid({"content": _("This is not base64.")}) from error
