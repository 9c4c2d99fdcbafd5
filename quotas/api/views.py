"""GPU models, quotas, and the acts that change capacity, over the API."""

from typing import Any

import django_filters
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.actor import PersonActsViewSet
from accounts.models import Role
from accounts.policies import require_role
from inventory import services as inventory
from inventory.models import GpuModel, Node, Pool
from inventory.selectors import gpu_counts, gpu_model_named, pool_named
from kernel import clock
from kernel.api.schema import problems
from kernel.errors import Invalid, NotFound
from quotas import selectors, services
from quotas.api import present, serializers
from quotas.api.fields import instant
from quotas.models import Claim, Resource
from quotas.services import AreaGrantSpec, GrantSpec

AT = OpenApiParameter("at", OpenApiTypes.DATETIME, description="The instant asked about, with its zone; now if absent.")


def model_id(text: str | None) -> int | None:
    """The id of the GPU model named; raises ``Invalid`` for one that is not there."""
    if not text:
        return None
    model = gpu_model_named(text)
    if model is None:
        raise Invalid({"gpu_model": _("There is no GPU model “%(value)s”.") % {"value": text[:60]}})
    return model.pk


class QuotaFilter(django_filters.FilterSet):  # type: ignore[misc]  # the package has no types
    project = django_filters.NumberFilter(field_name="project_id")
    resource = django_filters.ChoiceFilter(choices=Resource.choices)
    gpu_model = django_filters.CharFilter(field_name="gpu_model__name")


@extend_schema_view(
    retrieve=extend_schema(responses={200: serializers.GpuModelOutput, **problems(404)}),
)
class GpuModelViewSet(PersonActsViewSet):
    """The catalogue with capacity, reserve and promises; models on live agents come first."""

    queryset = GpuModel.objects.none()
    serializer_class = serializers.GpuModelOutput
    filter_backends = []

    @extend_schema(parameters=[AT], responses={200: serializers.GpuModelOutput(many=True), **problems(422)})
    def list(self, request: Request) -> Response:
        lines = selectors.model_lines(instant(request))
        page = self.paginate_queryset(lines)
        return self.get_paginated_response([present.gpu_model(line) for line in page or []])

    def retrieve(self, request: Request, pk: str) -> Response:
        return Response(self._plain(int(pk)))

    @extend_schema(
        request=serializers.GpuModelPatch, responses={200: serializers.GpuModelOutput, **problems(403, 404, 422)}
    )
    def partial_update(self, request: Request, pk: str) -> Response:
        """Correct what the catalogue says of a model. Admins."""
        require_role(self.actor, Role.ADMIN)
        changes = self.parse(serializers.GpuModelPatch, partial=True)
        inventory.gpu_model_edit(actor=self.actor, gpu_model_id=int(pk), changes=changes)
        return Response(self._plain(int(pk)))

    @extend_schema(
        request=serializers.ReserveInput, responses={200: serializers.GpuModelOutput, **problems(403, 404, 409, 422)}
    )
    @action(detail=True, methods=["post"])
    def reserve(self, request: Request, pk: str) -> Response:
        """Set the emergency reserve from a moment on; refused where promises exceed what is left. Admins."""
        require_role(self.actor, Role.ADMIN)
        services.reserve_set(actor=self.actor, gpu_model_id=int(pk), **self.parse(serializers.ReserveInput))
        return Response(self._plain(int(pk)))

    def _plain(self, pk: int) -> dict[str, Any]:
        line = next((line for line in selectors.model_lines(clock.now()) if line.model.pk == pk), None)
        if line is None:
            raise NotFound
        return present.gpu_model(line)


@extend_schema_view(
    retrieve=extend_schema(responses={200: serializers.QuotaOutput, **problems(404)}),
)
class QuotaViewSet(PersonActsViewSet):
    """What projects hold: rows in force now, or at ``?at=``."""

    queryset = Claim.objects.none()
    serializer_class = serializers.QuotaOutput
    filterset_class = QuotaFilter
    ordering_fields = ("project", "resource", "guaranteed", "limit")

    def get_queryset(self) -> QuerySet[Claim]:
        return selectors.visible_claims(self.request.user)

    @extend_schema(parameters=[AT], responses={200: serializers.QuotaOutput(many=True), **problems(422)})
    def list(self, request: Request) -> Response:
        at = instant(request)
        rows = selectors.quota_rows(request.user, at)
        return self.listing(rows, lambda page: present.quotas(page, at))

    def retrieve(self, request: Request, pk: str) -> Response:
        return Response(self._plain(self._claim(pk)))

    @extend_schema(request=serializers.GrantInput, responses={201: serializers.QuotaOutput, **problems(403, 409, 422)})
    def create(self, request: Request) -> Response:
        """Grant: supersedes the overlapping base grant of that project and resource. Admins, never their own."""
        require_role(self.actor, Role.ADMIN)
        data = self.parse(serializers.GrantInput)
        project, model = data.pop("project"), model_id(data.pop("gpu_model", None))
        grant = GrantSpec(project_id=project, gpu_model_id=model, **data)
        claim = services.quota_grant(actor=self.actor, grant=grant)
        return Response(self._plain(claim), status=201)

    @extend_schema(
        request=serializers.EndInput, responses={200: serializers.QuotaOutput, **problems(403, 404, 409, 422)}
    )
    @action(detail=True, methods=["post"])
    def end(self, request: Request, pk: str) -> Response:
        """End a claim at a moment, now by default; one that has not begun is voided. Admins."""
        claim = self._claim(pk)
        require_role(self.actor, Role.ADMIN)
        ended = services.claim_end(actor=self.actor, claim_id=claim.pk, **self.parse(serializers.EndInput))
        return Response(self._plain(ended))

    def _claim(self, pk: str) -> Claim:
        claim = self.get_queryset().filter(pk=int(pk)).first()
        if claim is None:
            raise NotFound
        return claim

    def _plain(self, claim: Claim) -> dict[str, Any]:
        return present.quotas([claim], clock.now())[0]


class AreaQuotaViewSet(PersonActsViewSet):
    """What research areas are promised on top of their projects' own guarantees."""

    queryset = Claim.objects.none()
    serializer_class = serializers.AreaQuotaOutput
    filter_backends = []
    ordering_fields = ("guaranteed",)

    def get_queryset(self) -> QuerySet[Claim]:
        return selectors.area_claims(self.request.user, clock.now())

    @extend_schema(responses={200: serializers.AreaQuotaOutput(many=True), **problems(403, 422)})
    def list(self, request: Request) -> Response:
        require_role(self.actor, Role.ADMIN, Role.DIRECTOR, Role.AUDITOR)
        return self.listing(self.get_queryset(), lambda rows: [present.area_quota(row) for row in rows])

    @extend_schema(
        request=serializers.AreaGrantInput, responses={201: serializers.AreaQuotaOutput, **problems(403, 409, 422)}
    )
    def create(self, request: Request) -> Response:
        """Grant to an area. Admins who work in none of its projects."""
        require_role(self.actor, Role.ADMIN)
        data = self.parse(serializers.AreaGrantInput)
        area, model = data.pop("area"), model_id(data.pop("gpu_model", None))
        grant = AreaGrantSpec(area_id=area, gpu_model_id=model, **data)
        return Response(present.area_quota(services.area_grant(actor=self.actor, grant=grant)), status=201)


class NodeCapacityViewSet(PersonActsViewSet):
    """What of a node counts as capacity, and in which pool."""

    queryset = Node.objects.none()
    serializer_class = serializers.CapacityOutput
    filter_backends = []

    @extend_schema(
        request=serializers.CapacityInput, responses={200: serializers.CapacityOutput, **problems(403, 404, 409, 422)}
    )
    @action(detail=True, methods=["post"])
    def capacity(self, request: Request, pk: str) -> Response:
        """So many of its GPUs count from a moment on; refused where promises exceed what is left. Admins."""
        require_role(self.actor, Role.ADMIN)
        data = self.parse(serializers.CapacityInput)
        model = model_id(data.pop("gpu_model", None))
        node = services.capacity_change(actor=self.actor, node_id=int(pk), gpu_model_id=model, **data)
        return Response(_node(node))

    @extend_schema(
        request=serializers.MoveInput, responses={200: serializers.CapacityOutput, **problems(403, 404, 409, 422)}
    )
    @action(detail=True, methods=["post"])
    def move(self, request: Request, pk: str) -> Response:
        """To another pool, its capacity along; refused where a dedicated pool would take what is promised. Admins."""
        require_role(self.actor, Role.ADMIN)
        data = self.parse(serializers.MoveInput)
        pool = pool_named(data["pool"])
        if pool is None:
            raise Invalid({"pool": _("There is no pool “%(value)s”.") % {"value": data["pool"]}})
        node = services.node_move(actor=self.actor, node_id=int(pk), pool_id=pool.pk, reason=data["reason"])
        return Response(_node(node))


class PoolPurposeViewSet(PersonActsViewSet):
    """Whom a pool's GPUs are for."""

    queryset = Pool.objects.none()
    serializer_class = serializers.PoolStateOutput
    filter_backends = []

    @extend_schema(
        request=serializers.DedicateInput,
        responses={200: serializers.PoolStateOutput, **problems(403, 404, 409, 422)},
    )
    @action(detail=True, methods=["post"])
    def dedicate(self, request: Request, pk: str) -> Response:
        """Keep its GPUs for its purpose from now on; refused where others are promised them. Admins."""
        require_role(self.actor, Role.ADMIN)
        pool = services.pool_dedicate(actor=self.actor, pool_id=int(pk), **self.parse(serializers.DedicateInput))
        return Response(_pool(pool))

    @extend_schema(
        request=serializers.DatedInput, responses={200: serializers.PoolStateOutput, **problems(403, 404, 409, 422)}
    )
    @action(detail=True, methods=["post"])
    def release(self, request: Request, pk: str) -> Response:
        """Give its GPUs back to all. Admins."""
        require_role(self.actor, Role.ADMIN)
        reason = self.parse(serializers.DedicateInput)["reason"]
        return Response(_pool(services.pool_release(actor=self.actor, pool_id=int(pk), reason=reason)))


def _node(node: Node) -> dict[str, Any]:
    return {"id": node.pk, "name": node.name, "gpus": gpu_counts([node])[node.pk].accepted}


def _pool(pool: Pool) -> dict[str, Any]:
    return {"id": pool.pk, "name": pool.name, "kind": pool.kind, "purpose": pool.purpose}
