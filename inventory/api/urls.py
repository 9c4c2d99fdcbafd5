"""Addresses of this room under ``/api/v1/``."""

from inventory.api.views import EnrolmentTokenViewSet, NodeViewSet, PoolViewSet
from kernel.api.router import PortalRouter

router = PortalRouter()
router.register("nodes", NodeViewSet, basename="node")
router.register("pools", PoolViewSet, basename="pool")
router.register("enrolment-tokens", EnrolmentTokenViewSet, basename="enrolment-token")

urlpatterns = router.urls
