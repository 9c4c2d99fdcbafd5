"""Addresses of this room under ``/api/v1/``. Acts on nodes and pools that change capacity live here: they need
to know what is promised."""

from kernel.api.router import PortalRouter
from quotas.api.access import PoolAccessViewSet
from quotas.api.requests import QuotaRequestViewSet
from quotas.api.views import (
    AreaQuotaViewSet,
    GpuModelViewSet,
    NodeCapacityViewSet,
    PoolPurposeViewSet,
    QuotaViewSet,
)

router = PortalRouter()
router.register("gpu-models", GpuModelViewSet, basename="gpu-model")
router.register("quotas", QuotaViewSet, basename="quota")
router.register("quota-requests", QuotaRequestViewSet, basename="quota-request")
router.register("area-quotas", AreaQuotaViewSet, basename="area-quota")
router.register("nodes", NodeCapacityViewSet, basename="node-capacity")
router.register("pools", PoolPurposeViewSet, basename="pool-purpose")
router.register("pools", PoolAccessViewSet, basename="pool-access")

urlpatterns = router.urls
