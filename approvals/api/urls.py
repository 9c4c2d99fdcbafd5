"""Addresses of this room under ``/api/v1/``."""

from approvals.api.more import DelegationViewSet, PolicyViewSet
from approvals.api.views import ApprovalViewSet
from kernel.api.router import PortalRouter

router = PortalRouter()
router.register("approvals", ApprovalViewSet, basename="approvals-api")
router.register("delegations", DelegationViewSet, basename="delegation")
router.register("approval-policies", PolicyViewSet, basename="approval-policy")

urlpatterns = router.urls
