"""Approvals over the API: what waits, one whole, votes, comments."""

from typing import Any

import django_filters
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.actor import PersonActsViewSet
from approvals import services
from approvals.api import present, serializers
from approvals.models import Answer, Approval
from approvals.policies import visible_to
from approvals.queue import queue_of
from approvals.selectors import talk_of
from approvals.services import Ballot
from approvals.states import OPEN, ApprovalState
from kernel.api.schema import problems
from kernel.errors import Invalid, NotFound

ME, OTHERS, DECIDED = "me", "others", "decided"
WAITING = OpenApiParameter(
    "waiting", str, enum=[ME, OTHERS, DECIDED], description="What waits for the caller, for others, or is decided"
)
REFUSED = problems(403, 404, 409, 422)


class ApprovalFilter(django_filters.FilterSet):  # type: ignore[misc]  # the package has no types
    kind = django_filters.CharFilter()
    state = django_filters.ChoiceFilter(choices=ApprovalState.choices)
    project = django_filters.NumberFilter(field_name="project_id")
    is_automatic = django_filters.BooleanFilter()


class ApprovalViewSet(PersonActsViewSet):
    """What is to be decided, and what was. A 409 of a vote says in ``happened`` what came in between."""

    queryset = Approval.objects.none()
    serializer_class = serializers.ApprovalOutput
    filterset_class = ApprovalFilter
    ordering_fields = ("due_at", "submitted_at", "decided_at")

    def get_queryset(self) -> QuerySet[Approval]:
        return visible_to(self.request.user).select_related("requester", "policy")

    @extend_schema(parameters=[WAITING], responses={200: serializers.ApprovalRowOutput(many=True), **problems(422)})
    def list(self, request: Request) -> Response:
        """Newest submission first; what waits by answer-by time."""
        return self.listing(self._asked(), present.rows)

    @extend_schema(responses={200: serializers.ApprovalOutput, **problems(404)})
    def retrieve(self, request: Request, pk: str) -> Response:
        """With its path, votes, comments, and who may decide it now."""
        return self._whole(int(pk))

    @extend_schema(request=serializers.VoteInput, responses={200: serializers.ApprovalOutput, **REFUSED})
    @action(detail=True, methods=["post"])
    def approve(self, request: Request, pk: str) -> Response:
        """The caller's vote; the last step's carries it out. ``changes`` grants less, where the kind allows it."""
        return self._voted(int(pk), Answer.APPROVE)

    @extend_schema(request=serializers.VoteInput, responses={200: serializers.ApprovalOutput, **REFUSED})
    @action(detail=True, methods=["post"])
    def reject(self, request: Request, pk: str) -> Response:
        """Ends it; needs a comment."""
        return self._voted(int(pk), Answer.REJECT)

    @extend_schema(request=serializers.VoteInput, responses={200: serializers.ApprovalOutput, **REFUSED})
    @action(detail=True, methods=["post"], url_path="return", url_name="return")
    def ask_back(self, request: Request, pk: str) -> Response:
        """Back to who asked, with a question as the comment."""
        return self._voted(int(pk), Answer.RETURN)

    @extend_schema(request=serializers.HandOnInput, responses={200: serializers.ApprovalOutput, **REFUSED})
    @action(detail=True, methods=["post"])
    def delegate(self, request: Request, pk: str) -> Response:
        """Ask somebody else to decide this one; the caller still may. ``changes`` names who: ``{"to": id}``."""
        found = self._found(int(pk))
        data = self.parse(serializers.HandOnInput)
        services.approval_hand_on(
            actor=self.actor,
            approval_id=found.pk,
            to_id=data["changes"]["to"],
            comment=data["comment"],
            version=data["version"],
        )
        return self._whole(found.pk)

    @extend_schema(
        methods=["GET"], responses={200: serializers.CommentOutput(many=True), **problems(404)}, filters=False
    )
    @extend_schema(
        methods=["POST"],
        request=serializers.CommentInput,
        responses={201: serializers.CommentOutput, **problems(403, 404, 422)},
    )
    @action(detail=True, methods=["get", "post"])
    def comments(self, request: Request, pk: str) -> Response:
        """What was said, oldest first, and another remark. Private notes are for those who decide."""
        found = self._found(int(pk))
        if request.method == "POST":
            data = self.parse(serializers.CommentInput)
            row = services.approval_comment(actor=self.actor, approval_id=found.pk, **data)
            return Response(present.comment(row), status=201)
        rows = talk_of(request.user, found)
        page = self.paginate_queryset(rows)
        return self.get_paginated_response([present.comment(row) for row in page or []])

    def _asked(self) -> QuerySet[Approval]:
        rows, asked = self.get_queryset(), self.request.query_params.get("waiting", "")
        if not asked:
            return rows.order_by("-submitted_at", "-pk")
        if asked == DECIDED:
            return rows.exclude(state__in=OPEN).order_by("-decided_at", "-pk")
        if asked not in (ME, OTHERS):
            text = _("“%(value)s” is not one of %(allowed)s")
            allowed = ", ".join((ME, OTHERS, DECIDED))
            raise Invalid({"waiting": text % {"value": asked[:40], "allowed": allowed}})
        queue = queue_of(self.actor)
        lines = queue.mine if asked == ME else queue.others
        return rows.filter(pk__in=[line.approval.pk for line in lines]).order_by("due_at", "submitted_at", "pk")

    def _voted(self, pk: int, answer: Answer) -> Response:
        found = self._found(pk)
        data: dict[str, Any] = self.parse(serializers.VoteInput)
        ballot = Ballot(answer, data["version"], data["seen"], data["comment"], data["changes"])
        services.approval_vote(actor=self.actor, approval_id=found.pk, ballot=ballot)
        return self._whole(found.pk)

    def _found(self, pk: int) -> Approval:
        """Refuses before the body is read, so that a fault in it tells a stranger nothing."""
        found = self.get_queryset().filter(pk=pk).first()
        if found is None:
            raise NotFound
        return found

    def _whole(self, pk: int) -> Response:
        return Response(present.whole(self._found(pk), self.request.user))
