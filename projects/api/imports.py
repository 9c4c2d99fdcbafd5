"""The API of imports: a file is sent, checked, read row by row, and applied whole or not at all."""

import base64
import binascii
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.policies import require_signed_in
from kernel.api.views import PortalViewSet
from kernel.errors import Invalid
from projects.api.serializers import StrictSerializer
from projects.imports import services
from projects.imports.selectors import import_of, imports_of, lines_of
from projects.models import ImportRow, ProjectImport, RowKind
from projects.states import ImportState

MOST_CHARACTERS = 4 * 1024 * 1024
KIND = OpenApiParameter("kind", str, description="Only rows of this result.", enum=RowKind.values)


class ImportInput(StrictSerializer):
    """A CSV or XLSX file. Bodies of calls are bounded, so that a file has at most 3 MiB here, 8 MiB on the page."""

    file_name = serializers.CharField(max_length=200)
    content = serializers.CharField(max_length=MOST_CHARACTERS, help_text="The file's bytes in base64.")
    ignore_unknown = serializers.BooleanField(default=False, help_text="Ignore columns that are not known.")


class CheckInput(StrictSerializer):
    ignore_unknown = serializers.BooleanField(required=False, help_text="Absent: as before.")


class ApplyInput(StrictSerializer):
    leave_out_refused = serializers.BooleanField(default=False, help_text="Otherwise a refused row is a 409.")


class NoInput(StrictSerializer):
    """No fields."""


class ImportOutput(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    file_name = serializers.CharField()
    state = serializers.ChoiceField(ImportState.choices)
    encoding = serializers.CharField(allow_blank=True)
    delimiter = serializers.CharField(allow_blank=True, trim_whitespace=False)
    ignore_unknown = serializers.BooleanField(source="ignores_unknown")
    unknown_columns = serializers.ListField(child=serializers.CharField())
    faults = serializers.ListField(
        child=serializers.CharField(), help_text="About the file, or the import, as a whole."
    )
    rows_total = serializers.IntegerField()
    rows_done = serializers.IntegerField()
    new = serializers.IntegerField()
    changed = serializers.IntegerField()
    unchanged = serializers.IntegerField()
    refused = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class ChangeOutput(serializers.Serializer[Any]):
    field = serializers.CharField()
    before = serializers.JSONField(allow_null=True)
    after = serializers.JSONField(allow_null=True)


class FaultOutput(serializers.Serializer[Any]):
    column = serializers.CharField(allow_blank=True, help_text="Empty: the whole row.")
    value = serializers.CharField(allow_blank=True)
    detail = serializers.CharField()


class ImportRowOutput(serializers.Serializer[Any]):
    row = serializers.IntegerField(help_text="As a spreadsheet numbers it; the head is 1.")
    kind = serializers.ChoiceField(RowKind.choices)
    name = serializers.CharField(allow_blank=True)
    project = serializers.IntegerField(allow_null=True)
    changes = ChangeOutput(many=True)
    faults = FaultOutput(many=True)
    is_overtaken = serializers.BooleanField(help_text="It came out otherwise when it was to be applied.")


class ImportViewSet(PortalViewSet):
    """The caller's own imports."""

    serializer_class = ImportOutput
    filter_backends = ()

    def get_queryset(self) -> QuerySet[ProjectImport]:
        return imports_of(require_signed_in(self.request.user))

    def own(self) -> ProjectImport:
        return import_of(require_signed_in(self.request.user), int(self.kwargs["pk"]))

    def answer(self, row: ProjectImport, code: int = status.HTTP_200_OK) -> Response:
        return Response(ImportOutput(row).data, status=code)

    def list(self, request: Request) -> Response:
        """Newest first."""
        return self.listing(self.get_queryset(), lambda rows: ImportOutput(rows, many=True).data)

    @extend_schema(request=ImportInput, responses={201: ImportOutput})
    def create(self, request: Request) -> Response:
        """Send a file to be checked; nothing is imported. Poll until its state is checked or failed."""
        data = self.parse(ImportInput)
        made = services.import_upload(
            actor=require_signed_in(request.user),
            file_name=data["file_name"],
            content=_bytes(data["content"]),
            ignores_unknown=data["ignore_unknown"],
        )
        return self.answer(made, status.HTTP_201_CREATED)

    def retrieve(self, request: Request, pk: str) -> Response:
        """Where it stands, with the counts."""
        return self.answer(self.own())

    @extend_schema(responses=ImportRowOutput(many=True), parameters=[KIND], filters=False)
    @action(detail=True, methods=["get"])
    def rows(self, request: Request, pk: str) -> Response:
        """What each row would do or did, or why it is refused; refused rows first."""
        kind = request.query_params.get("kind", "")
        if kind and kind not in RowKind.values:
            text = _("“%(value)s” is not one of: %(allowed)s.")
            raise Invalid({"kind": text % {"value": kind[:60], "allowed": ", ".join(RowKind.values)}})
        page = self.paginate_queryset(lines_of(self.own(), kind))
        return self.get_paginated_response([_plain(row) for row in page or []])

    @extend_schema(request=CheckInput)
    @action(detail=True, methods=["post"])
    def check(self, request: Request, pk: str) -> Response:
        """Check the same file again, as the registry is now."""
        row = self.own()
        data = self.parse(CheckInput)
        done = services.import_check_again(
            actor=require_signed_in(request.user), import_id=row.pk, ignores_unknown=data.get("ignore_unknown")
        )
        return self.answer(done)

    @extend_schema(request=ApplyInput)
    @action(detail=True, methods=["post"])
    def apply(self, request: Request, pk: str) -> Response:
        """Write what was checked, all of it or nothing. Poll until its state is applied or failed."""
        row = self.own()
        data = self.parse(ApplyInput)
        done = services.import_apply(
            actor=require_signed_in(request.user), import_id=row.pk, leaves_out_refused=data["leave_out_refused"]
        )
        return self.answer(done)

    @extend_schema(request=NoInput)
    @action(detail=True, methods=["post"])
    def discard(self, request: Request, pk: str) -> Response:
        """Delete a file that was not applied; its report stays."""
        row = self.own()
        self.parse(NoInput)
        return self.answer(services.import_discard(actor=require_signed_in(request.user), import_id=row.pk))

    @extend_schema(request=NoInput)
    @action(detail=True, methods=["post"])
    def undo(self, request: Request, pk: str) -> Response:
        """Close the drafts that came of it and that nobody touched since."""
        row = self.own()
        self.parse(NoInput)
        return self.answer(services.import_undo(actor=require_signed_in(request.user), import_id=row.pk))


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise Invalid({"content": _("This is not base64.")}) from error


def _plain(row: ImportRow) -> dict[str, Any]:
    return {
        "row": row.line,
        "kind": row.kind,
        "name": row.name,
        "project": row.project_id,
        "changes": [{"field": field, "before": before, "after": after} for field, before, after in row.changes],
        "faults": [{"column": column, "value": value, "detail": why} for column, value, why in row.faults],
        "is_overtaken": row.is_overtaken,
    }
