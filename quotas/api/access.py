"""Who may use a dedicated pool, over the API."""

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.actor import PersonActsViewSet
from accounts.models import Role
from accounts.policies import require_role
from inventory.policies import visible_pools
from kernel.api.schema import problems
from kernel.errors import NotFound
from quotas import selectors, services
from quotas.api import present, serializers
from quotas.models import PoolAccess
from quotas.services import AccessSpec


class PoolAccessViewSet(PersonActsViewSet):
    """Projects and research areas that may use a dedicated pool, as far as one may know of them."""

    queryset = PoolAccess.objects.none()
    serializer_class = serializers.AccessOutput
    filter_backends = []

    @extend_schema(responses={200: serializers.AccessOutput(many=True), **problems(404)})
    @action(detail=True, methods=["get"])
    def access(self, request: Request, pk: str) -> Response:
        """Access in force now or to come."""
        return self.listing(self._rows(pk), lambda rows: [present.access(row) for row in rows])

    @extend_schema(
        request=serializers.AccessInput, responses={201: serializers.AccessOutput, **problems(403, 404, 409, 422)}
    )
    @access.mapping.post
    def open(self, request: Request, pk: str) -> Response:
        """Let a project or an area use the pool. Admins, never for their own."""
        require_role(self.actor, Role.ADMIN)
        data = self.parse(serializers.AccessInput)
        access = AccessSpec(
            pool_id=int(pk), project_id=data.pop("project", None), area_id=data.pop("area", None), **data
        )
        return Response(present.access(services.pool_open(actor=self.actor, access=access)), status=201)

    @extend_schema(
        request=serializers.EndInput, responses={200: serializers.AccessOutput, **problems(403, 404, 409, 422)}
    )
    @action(detail=True, methods=["post"], url_path=r"access/(?P<access_id>[0-9]{1,18})/end")
    def end(self, request: Request, pk: str, access_id: str) -> Response:
        """End an access at a moment, now by default; one that has not begun is voided. Admins."""
        require_role(self.actor, Role.ADMIN)
        row = PoolAccess.objects.filter(pk=int(access_id), pool=int(pk)).first()
        if row is None:
            raise NotFound
        ended = services.pool_close(actor=self.actor, access_id=row.pk, **self.parse(serializers.EndInput))
        return Response(present.access(ended))

    def _rows(self, pk: str) -> QuerySet[PoolAccess]:
        if not visible_pools(self.request.user).filter(pk=int(pk)).exists():
            raise NotFound
        return selectors.visible_access(self.request.user, int(pk))
