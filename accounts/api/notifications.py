"""Notifications over the API: one's own inbox and preferences; what was sent, for admins and auditors."""

from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.actor import PersonActsViewSet
from accounts.models import Channel, DeliveryOutcome, Notification, NotificationDelivery, Role
from accounts.notifications import reading
from accounts.notifications.topics import groups
from accounts.notifications.wording import wording
from accounts.policies import require_role
from accounts.services import notifications as services
from kernel.api.schema import problems
from kernel.errors import Invalid
from kernel.problem import flatten


class NotificationSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    topic = serializers.CharField(help_text="A word for programs, such as approvals.waiting")
    group = serializers.CharField()
    is_blocking = serializers.BooleanField(help_text="Somebody waits for what you do")
    title = serializers.CharField(help_text="In your language")
    text = serializers.CharField()
    url = serializers.CharField(help_text="A path of this portal, or empty")
    created_at = serializers.DateTimeField()
    read_at = serializers.DateTimeField(allow_null=True)


class InboxQuestionSerializer(serializers.Serializer[Any]):
    """Which of one's own."""

    group = serializers.CharField(required=False, max_length=40, help_text="A group of the preferences")
    unread = serializers.BooleanField(required=False, help_text="true: only what is not read yet")


class ReadAllSerializer(serializers.Serializer[Any]):
    group = serializers.CharField(required=False, default="", allow_blank=True, max_length=40, help_text="Only these")


class ReadCountSerializer(serializers.Serializer[Any]):
    read = serializers.IntegerField(help_text="How many were unread")


class PreferencesSerializer(serializers.Serializer[Any]):
    """By group. What blocks somebody is in the daily digest at least, also with ``none``."""

    mail = serializers.DictField(
        child=serializers.CharField(max_length=10), help_text="usual, at_once, digest or none, by group"
    )


class DeliverySerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    notification = serializers.IntegerField()
    title = serializers.CharField()
    person = serializers.CharField(allow_null=True, help_text="User name; null for the chat")
    channel = serializers.CharField(help_text="mail, digest or chat")
    outcome = serializers.CharField(help_text="due, sent, dropped or failed")
    due_at = serializers.DateTimeField()
    done_at = serializers.DateTimeField(allow_null=True)
    tries = serializers.IntegerField()
    error = serializers.CharField()


class DeliveryQuestionSerializer(serializers.Serializer[Any]):
    outcome = serializers.ChoiceField(choices=DeliveryOutcome.values, required=False)
    channel = serializers.ChoiceField(choices=Channel.values, required=False)


@extend_schema_view(
    list=extend_schema(
        parameters=[InboxQuestionSerializer], responses={200: NotificationSerializer(many=True), **problems(422)}
    ),
    retrieve=extend_schema(responses={200: NotificationSerializer, **problems(404)}),
)
class NotificationViewSet(PersonActsViewSet):
    """One's own inbox, newest first."""

    queryset = Notification.objects.none()
    serializer_class = NotificationSerializer
    ordering_fields = ("created_at", "read_at")

    def get_queryset(self) -> QuerySet[Notification]:
        return reading.inbox(self.request.user).order_by("-created_at", "-pk")

    def list(self, request: Request) -> Response:
        asked = _asked(InboxQuestionSerializer, request)
        group = _known_group(asked.get("group", ""))
        rows = reading.narrowed(self.get_queryset(), group=group, only_unread=asked.get("unread", False))
        return self.listing(rows, lambda page: [_plain(row) for row in page])

    def retrieve(self, request: Request, pk: str) -> Response:
        return Response(_plain(self.get_object()))

    @extend_schema(request=None, responses={200: NotificationSerializer, **problems(404)})
    @action(detail=True, methods=["post"])
    def read(self, request: Request, pk: str) -> Response:
        services.notifications_read(actor=self.actor, ids=[self.get_object().pk])
        return Response(_plain(self.get_object()))

    @extend_schema(request=None, responses={200: NotificationSerializer, **problems(404)})
    @action(detail=True, methods=["post"])
    def unread(self, request: Request, pk: str) -> Response:
        services.notifications_unread(actor=self.actor, ids=[self.get_object().pk])
        return Response(_plain(self.get_object()))

    @extend_schema(request=ReadAllSerializer, responses={200: ReadCountSerializer, **problems(422)})
    @action(detail=False, methods=["post"], url_path="read-all")
    def read_all(self, request: Request) -> Response:
        group = _known_group(self.parse(ReadAllSerializer)["group"])
        return Response({"read": services.notifications_read(actor=self.actor, group=group)})

    @extend_schema(responses={200: PreferencesSerializer, **problems()})
    @action(detail=False, methods=["get"], pagination_class=None, filter_backends=[])
    def preferences(self, request: Request) -> Response:
        return Response(self._preferences())

    @extend_schema(request=PreferencesSerializer, responses={200: PreferencesSerializer, **problems(422)})
    @preferences.mapping.patch
    def change_preferences(self, request: Request) -> Response:
        services.notification_preferences_choose(actor=self.actor, chosen=self.parse(PreferencesSerializer)["mail"])
        return Response(self._preferences())

    def _preferences(self) -> dict[str, Any]:
        return {"mail": {choice.group.name: choice.mail.value for choice in reading.preferences(self.actor)}}


@extend_schema_view(
    list=extend_schema(
        parameters=[DeliveryQuestionSerializer], responses={200: DeliverySerializer(many=True), **problems(403, 422)}
    ),
    retrieve=extend_schema(responses={200: DeliverySerializer, **problems(403, 404)}),
)
class NotificationDeliveryViewSet(PersonActsViewSet):
    """What was sent and what failed, newest first, for admins and auditors."""

    queryset = NotificationDelivery.objects.none()
    serializer_class = DeliverySerializer
    ordering_fields = ("due_at", "done_at", "tries")

    def get_queryset(self) -> QuerySet[NotificationDelivery]:
        return reading.deliveries(self.request.user)

    def list(self, request: Request) -> Response:
        require_role(request.user, Role.ADMIN, Role.AUDITOR)
        rows = reading.deliveries(request.user, **_asked(DeliveryQuestionSerializer, request))
        return self.listing(rows, lambda page: [_delivery(row) for row in page])

    def retrieve(self, request: Request, pk: str) -> Response:
        return Response(_delivery(self.get_object()))

    @extend_schema(request=None, responses={200: DeliverySerializer, **problems(403, 404, 409)})
    @action(detail=True, methods=["post"])
    def retry(self, request: Request, pk: str) -> Response:
        return Response(_delivery(services.delivery_retry(actor=self.actor, delivery_id=int(pk))))


def _asked(question: type[serializers.Serializer[Any]], request: Request) -> dict[str, Any]:
    asked = question(data=request.query_params)
    if not asked.is_valid():
        raise Invalid(flatten(asked.errors))
    return dict(asked.validated_data)


def _known_group(name: str) -> str:
    known = [group.name for group in groups()]
    if name and name not in known:
        words = {"given": name[:40], "allowed": ", ".join(known)}
        raise Invalid({"group": _("%(given)s: choose from %(allowed)s.") % words})
    return name


def _plain(row: Notification) -> dict[str, Any]:
    said = wording(row)
    names = ("topic", "group", "is_blocking", "url", "created_at", "read_at")
    return {"id": row.pk, "title": said.title, "text": said.text, **{name: getattr(row, name) for name in names}}


def _delivery(row: NotificationDelivery) -> dict[str, Any]:
    names = ("channel", "outcome", "due_at", "done_at", "tries", "error")
    return {
        "id": row.pk,
        "notification": row.notification_id,
        "title": wording(row.notification).title,
        "person": row.person.username if row.person else None,
        **{name: getattr(row, name) for name in names},
    }
