"""Nodes, pools and enrolment tokens over the API. Draining a node is an act of the scheduler."""

from typing import Any

import django_filters
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.actor import PersonActsViewSet
from accounts.models import Role
from accounts.policies import require_role
from inventory import policies, selectors, services
from inventory.api import present, serializers
from inventory.models import EnrolmentToken, Node, Pool, Source
from inventory.services import EnrolmentSpec, PoolSpec, PriceSpec
from inventory.states import NodeState
from kernel.api.schema import problems
from kernel.errors import Invalid, NotFound


class NodeFilter(django_filters.FilterSet):  # type: ignore[misc]  # the package has no types
    state = django_filters.ChoiceFilter(choices=NodeState.choices)
    source = django_filters.ChoiceFilter(choices=Source.choices)
    pool = django_filters.CharFilter(field_name="pool__name")
    gpu_model = django_filters.CharFilter(field_name="devices__gpu_model__name", distinct=True)


@extend_schema_view(
    list=extend_schema(responses={200: serializers.NodeOutput(many=True), **problems(422)}),
    retrieve=extend_schema(responses={200: serializers.NodeDetailOutput, **problems(404)}),
)
class NodeViewSet(PersonActsViewSet):
    """Nodes with their state, GPUs and price. A removed node is read by its id alone."""

    queryset = Node.objects.none()
    serializer_class = serializers.NodeOutput
    filterset_class = NodeFilter
    ordering_fields = ("name", "state", "last_seen_at")

    def get_queryset(self) -> QuerySet[Node]:
        return policies.visible_nodes(self.request.user).select_related("pool", "gpu_model").order_by("name")

    def list(self, request: Request) -> Response:
        return self.listing(self.get_queryset().exclude(state=NodeState.REMOVED), present.nodes)

    def retrieve(self, request: Request, pk: str) -> Response:
        return Response(present.node_detail(self._node(pk)))

    @extend_schema(
        request=serializers.PriceInput, responses={200: serializers.NodeDetailOutput, **problems(403, 404, 409, 422)}
    )
    @action(detail=True, methods=["post"])
    def price(self, request: Request, pk: str) -> Response:
        """A price per GPU-hour from a moment on, at minutes of the organisation's day. Admins."""
        require_role(self.actor, Role.ADMIN)
        price = PriceSpec(**self.parse(serializers.PriceInput))
        services.price_set(actor=self.actor, node_id=int(pk), price=price)
        return Response(present.node_detail(self._node(pk)))

    def _node(self, pk: str) -> Node:
        node = self.get_queryset().filter(pk=int(pk)).first()
        if node is None:
            raise NotFound
        return node


@extend_schema_view(
    list=extend_schema(responses={200: serializers.PoolOutput(many=True), **problems(422)}),
    retrieve=extend_schema(responses={200: serializers.PoolOutput, **problems(404)}),
)
class PoolViewSet(PersonActsViewSet):
    """Pools and their policies."""

    queryset = Pool.objects.none()
    serializer_class = serializers.PoolOutput
    ordering_fields = ("name",)

    def get_queryset(self) -> QuerySet[Pool]:
        return selectors.pools().filter(pk__in=policies.visible_pools(self.request.user))

    def list(self, request: Request) -> Response:
        return self.listing(self.get_queryset(), present.pools)

    def retrieve(self, request: Request, pk: str) -> Response:
        return Response(self._plain(int(pk)))

    @extend_schema(request=serializers.PoolInput, responses={201: serializers.PoolOutput, **problems(403, 422)})
    def create(self, request: Request) -> Response:
        """A new shared pool. Admins."""
        require_role(self.actor, Role.ADMIN)
        pool = services.pool_create(actor=self.actor, spec=PoolSpec(**self.parse(serializers.PoolInput)))
        return Response(self._plain(pool.pk), status=201)

    @extend_schema(request=serializers.PoolPatch, responses={200: serializers.PoolOutput, **problems(403, 404, 422)})
    def partial_update(self, request: Request, pk: str) -> Response:
        """Change a pool's policy. Admins."""
        require_role(self.actor, Role.ADMIN)
        changes = self.parse(serializers.PoolPatch, partial=True)
        services.pool_edit(actor=self.actor, pool_id=int(pk), changes=changes)
        return Response(self._plain(int(pk)))

    def _plain(self, pk: int) -> dict[str, Any]:
        rows = list(self.get_queryset().filter(pk=pk))
        if not rows:
            raise NotFound
        return present.pools(rows)[0]


@extend_schema_view(
    list=extend_schema(responses={200: serializers.TokenOutput(many=True), **problems(403, 422)}),
)
class EnrolmentTokenViewSet(PersonActsViewSet):
    """One-time tokens with which nodes join. Read by admins and auditors, issued and revoked by admins."""

    queryset = EnrolmentToken.objects.none()
    serializer_class = serializers.TokenOutput
    ordering_fields = ("created_at", "expires_at", "node_name")
    shown_once = frozenset({"token"})

    def get_queryset(self) -> QuerySet[EnrolmentToken]:
        rows = policies.visible_tokens(self.request.user).select_related("pool", "issued_by")
        return rows.order_by("-created_at", "-pk")

    def list(self, request: Request) -> Response:
        require_role(self.actor, Role.ADMIN, Role.AUDITOR)
        return self.listing(self.get_queryset(), lambda rows: [present.token(row) for row in rows])

    @extend_schema(request=serializers.TokenInput, responses={201: serializers.IssuedTokenOutput, **problems(403, 422)})
    def create(self, request: Request) -> Response:
        """A token for one node; its secret is in this answer and nowhere else."""
        require_role(self.actor, Role.ADMIN)
        data = self.parse(serializers.TokenInput)
        pool = selectors.pool_named(data["pool"])
        if pool is None:
            raise Invalid({"pool": _("There is no pool “%(value)s”.") % {"value": data["pool"]}})
        spec = EnrolmentSpec(data["node_name"], pool.pk, data["source"], data.get("expires_at"))
        row, secret = services.enrolment_token_issue(actor=self.actor, spec=spec)
        return Response({**present.token(row), "token": secret}, status=201)

    @extend_schema(request=None, responses={200: serializers.TokenOutput, **problems(403, 404, 409)})
    @action(detail=True, methods=["post"])
    def revoke(self, request: Request, pk: str) -> Response:
        """Make a token useless before it is used."""
        row = services.enrolment_token_revoke(actor=self.actor, token_id=int(pk))
        return Response(present.token(row))
