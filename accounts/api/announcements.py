"""Announcements over the API: everybody reads what they are told now, admins write, auditors read all."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import selectors, services
from accounts.api.actor import PersonActsViewSet
from accounts.models import Announcement, AnnouncementKind, AnnouncementLevel, Role
from accounts.policies import require_role
from accounts.services import AnnouncementSpec
from accounts.services.announcements import MAX_TEXT, MAX_TITLE
from kernel import clock
from kernel.api.fields import InstantField
from kernel.api.schema import problems


class AnnouncementSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=AnnouncementKind.choices)
    level = serializers.ChoiceField(choices=AnnouncementLevel.choices)
    title = serializers.CharField()
    text = serializers.CharField(help_text="Plain text")
    audience = serializers.ListField(
        child=serializers.ChoiceField(choices=Role.choices), help_text="Roles; none is everybody"
    )
    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField(allow_null=True)
    state = serializers.CharField(help_text="planned, now, over or withdrawn")
    created_by = serializers.CharField(help_text="User name")
    revision = serializers.IntegerField()


class NewAnnouncementSerializer(serializers.Serializer[Any]):
    """``starts_at`` left out is now; a maintenance window needs ``ends_at``."""

    kind = serializers.CharField(max_length=20, help_text="announcement or maintenance")
    title = serializers.CharField(max_length=MAX_TITLE)
    text = serializers.CharField(max_length=MAX_TEXT, required=False, default="", allow_blank=True)
    level = serializers.CharField(
        max_length=10, required=False, default=AnnouncementLevel.INFO.value, help_text="info or warning"
    )
    audience = serializers.ListField(
        child=serializers.CharField(max_length=20), required=False, default=list, max_length=len(Role.values)
    )
    starts_at = InstantField(required=False, allow_null=True, default=None)
    ends_at = InstantField(required=False, allow_null=True, default=None)


class ChangedAnnouncementSerializer(serializers.Serializer[Any]):
    """What is left out stays."""

    kind = serializers.CharField(max_length=20, required=False)
    title = serializers.CharField(max_length=MAX_TITLE, required=False)
    text = serializers.CharField(max_length=MAX_TEXT, required=False, allow_blank=True)
    level = serializers.CharField(max_length=10, required=False)
    audience = serializers.ListField(
        child=serializers.CharField(max_length=20), required=False, max_length=len(Role.values)
    )
    starts_at = InstantField(required=False)
    ends_at = InstantField(required=False, allow_null=True)
    revision = serializers.IntegerField(required=False, help_text="The one you read: refused if it is another by now")


@extend_schema_view(
    list=extend_schema(responses={200: AnnouncementSerializer(many=True), **problems(422)}),
    retrieve=extend_schema(responses={200: AnnouncementSerializer, **problems(404)}),
)
class AnnouncementViewSet(PersonActsViewSet):
    """Announcements and maintenance windows."""

    queryset = Announcement.objects.none()
    serializer_class = AnnouncementSerializer
    ordering_fields = ("starts_at", "ends_at")

    def get_queryset(self) -> QuerySet[Announcement]:
        return selectors.announcements(self.request.user)

    def list(self, request: Request) -> Response:
        return self.listing(self.get_queryset(), lambda page: [_plain(row) for row in page])

    def retrieve(self, request: Request, pk: str) -> Response:
        return Response(_plain(self.get_object()))

    @extend_schema(request=NewAnnouncementSerializer, responses={201: AnnouncementSerializer, **problems(403, 422)})
    def create(self, request: Request) -> Response:
        require_role(self.actor, Role.ADMIN)
        spec = AnnouncementSpec(**self.parse(NewAnnouncementSerializer))
        return Response(_plain(services.announcement_publish(actor=self.actor, spec=spec)), status=201)

    @extend_schema(
        request=ChangedAnnouncementSerializer, responses={200: AnnouncementSerializer, **problems(403, 404, 409, 422)}
    )
    def partial_update(self, request: Request, pk: str) -> Response:
        row = self._own()
        given = self.parse(ChangedAnnouncementSerializer, partial=True)
        seen = given.pop("revision", row.revision)
        names = ("kind", "title", "text", "level", "audience", "starts_at", "ends_at")
        spec = AnnouncementSpec(**{name: given.get(name, getattr(row, name)) for name in names})
        changed = services.announcement_edit(actor=self.actor, announcement_id=row.pk, spec=spec, seen=seen)
        return Response(_plain(changed))

    @extend_schema(request=None, responses={200: AnnouncementSerializer, **problems(403, 404, 409)})
    @action(detail=True, methods=["post"])
    def withdraw(self, request: Request, pk: str) -> Response:
        return Response(_plain(services.announcement_withdraw(actor=self.actor, announcement_id=self._own().pk)))

    def _own(self) -> Announcement:
        """The row, for whoever may change it; 404 for one that the caller does not see, else 403."""
        row: Announcement = self.get_object()
        require_role(self.actor, Role.ADMIN)
        return row


def _plain(row: Announcement) -> dict[str, Any]:
    names = ("kind", "level", "title", "text", "audience", "starts_at", "ends_at", "revision")
    return {
        "id": row.pk,
        **{name: getattr(row, name) for name in names},
        "state": selectors.announcement_state(row, clock.now()),
        "created_by": row.created_by.username,
    }
