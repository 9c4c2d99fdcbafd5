"""``nodes/{id}/drain`` and the like: what an admin does with a node that may hold jobs."""

from collections.abc import Callable
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import Role
from accounts.policies import require_role
from inventory.api.present import node_detail
from inventory.api.serializers import NodeDetailOutput
from inventory.models import Node
from kernel.api.views import PortalViewSet
from scheduling import services
from scheduling.api.serializers import ReasonInput


class NodeActViewSet(PortalViewSet):
    """Acts of admins on a node; reading nodes is another view's."""

    queryset = Node.objects.none()
    serializer_class = NodeDetailOutput

    @extend_schema(request=ReasonInput)
    @action(detail=True, methods=["post"])
    def drain(self, request: Request, pk: str) -> Response:
        """Give it nothing new; what runs there runs on."""
        return self._act(services.node_drain, pk)

    @extend_schema(request=ReasonInput)
    @action(detail=True, methods=["post"])
    def undrain(self, request: Request, pk: str) -> Response:
        """Take it into use again after draining or maintenance."""
        return self._act(services.node_undrain, pk)

    @extend_schema(request=ReasonInput)
    @action(detail=True, methods=["post"])
    def maintain(self, request: Request, pk: str) -> Response:
        """Take it out for work on it. It must be drained and empty."""
        return self._act(services.node_maintain, pk)

    @extend_schema(request=ReasonInput)
    @action(detail=True, methods=["post"])
    def remove(self, request: Request, pk: str) -> Response:
        """Take it away, and its GPUs out of capacity. It must be empty; promises must still hold."""
        return self._act(services.node_remove, pk)

    @extend_schema(request=ReasonInput)
    @action(detail=True, methods=["post"], url_path="declare-lost", url_name="declare-lost")
    def declare_lost(self, request: Request, pk: str) -> Response:
        """State that a silent node will not come back: its jobs are queued again at their old place."""
        return self._act(services.node_declare_lost, pk)

    def _act(self, service: Callable[..., Any], pk: str) -> Response:
        person = require_role(self.request.user, Role.ADMIN)
        service(actor=person, node_id=int(pk), reason=self.parse(ReasonInput).get("reason", ""))
        return Response(node_detail(Node.objects.select_related("pool", "gpu_model").get(pk=int(pk))))
