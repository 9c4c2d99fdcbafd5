"""Addresses of this room under ``/api/v1/``."""

from accounts.api.views import AuditViewSet, PersonViewSet, TokenViewSet
from kernel.api.router import PortalRouter

router = PortalRouter()
router.register("people", PersonViewSet, basename="person")
router.register("tokens", TokenViewSet, basename="token")
router.register("audit", AuditViewSet, basename="audit")

urlpatterns = router.urls
