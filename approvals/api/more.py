"""Stand-ins and policies over the API."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.actor import PersonActsViewSet
from approvals import services
from approvals.api import present, serializers
from approvals.models import Delegation, PolicyVersion
from approvals.policies import require_policy_editor, require_policy_reader
from approvals.policy_facts import PolicyFact, policy_facts
from approvals.rules import Rules, read
from approvals.selectors import delegations_of
from kernel import clock
from kernel.api.schema import problems
from kernel.errors import NotFound


class DelegationViewSet(PersonActsViewSet):
    """The caller's own stand-ins, and whom the caller stands in for: those in force and to come."""

    queryset = Delegation.objects.none()
    serializer_class = serializers.DelegationOutput
    filter_backends = []

    def get_queryset(self) -> QuerySet[Delegation]:
        return delegations_of(self.actor, clock.now())

    @extend_schema(responses={200: serializers.DelegationOutput(many=True), **problems(422)})
    def list(self, request: Request) -> Response:
        return self.listing(self.get_queryset(), lambda page: [present.delegation(row) for row in page])

    @extend_schema(request=serializers.DelegationInput, responses={201: serializers.DelegationOutput, **problems(422)})
    def create(self, request: Request) -> Response:
        """Somebody decides what the caller may, during an interval. Nobody passes it on."""
        data = self.parse(serializers.DelegationInput)
        row = services.delegation_create(
            actor=self.actor,
            stand_in_id=data["stand_in"],
            starts_at=data["starts_at"],
            ends_at=data["ends_at"],
            reason=data["reason"],
        )
        return Response(self._plain(row), status=201)

    @extend_schema(request=None, responses={200: serializers.DelegationOutput, **problems(404, 409)})
    @action(detail=True, methods=["post"])
    def revoke(self, request: Request, pk: str) -> Response:
        """End it now: whoever gave it, whoever got it, or an admin."""
        return Response(self._plain(services.delegation_revoke(actor=self.actor, delegation_id=int(pk))))

    def _plain(self, row: Delegation) -> dict[str, Any]:
        return present.delegation(Delegation.objects.select_related("principal", "stand_in").get(pk=row.pk))


class PolicyViewSet(PersonActsViewSet):
    """The rules in force by kind: directors, admins and auditors read them, an admin changes them."""

    queryset = PolicyVersion.objects.none()
    serializer_class = serializers.PolicyOutput
    filter_backends = []
    lookup_value_regex = "[a-z][a-z0-9_.-]{0,39}"
    lookup_url_kwarg = "kind"

    @extend_schema(responses={200: serializers.PolicyOutput(many=True), **problems(403)})
    def list(self, request: Request) -> Response:
        require_policy_reader(self.actor)
        page = self.paginate_queryset(policy_facts())
        return self.get_paginated_response([self._plain(fact) for fact in page or []])

    @extend_schema(responses={200: serializers.PolicyOutput, **problems(403, 404)})
    def retrieve(self, request: Request, kind: str) -> Response:
        require_policy_reader(self.actor)
        return Response(self._plain(_fact(kind)))

    @extend_schema(
        request=serializers.PolicyInput, responses={200: serializers.PolicyOutput, **problems(403, 404, 409, 422)}
    )
    def update(self, request: Request, kind: str) -> Response:
        """New rules for what is submitted from now on. A 409 says in ``happened`` who was quicker. Admins."""
        require_policy_editor(self.actor)
        fact = _fact(kind)
        data = self.parse(serializers.PolicyInput)
        services.policy_set(
            actor=self.actor,
            kind=fact.kind.name,
            rules=_rules(data["rules"]),
            seen=data["version"],
            reason=data["reason"],
        )
        return Response(self._plain(_fact(kind)))

    @extend_schema(
        request=serializers.ReviewInput, responses={200: serializers.PolicyOutput, **problems(403, 404, 409, 422)}
    )
    @action(detail=True, methods=["post"])
    def review(self, request: Request, kind: str) -> Response:
        """Put on record that the rules in force still hold. Admins, each quarter."""
        require_policy_editor(self.actor)
        fact = _fact(kind)
        data = self.parse(serializers.ReviewInput)
        services.policy_review(actor=self.actor, kind=fact.kind.name, seen=data["version"], note=data["note"])
        return Response(self._plain(_fact(kind)))

    def _plain(self, fact: PolicyFact) -> dict[str, Any]:
        return present.policy(fact, is_overdue=fact.is_overdue(clock.now()))


def _fact(kind: str) -> PolicyFact:
    found = next((fact for fact in policy_facts() if fact.kind.name == kind), None)
    if found is None:
        raise NotFound
    return found


def _rules(sent: list[dict[str, Any]]) -> Rules:
    return read(sent)
