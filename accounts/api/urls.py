"""Addresses of this room under ``/api/v1/``."""

from accounts.api.announcements import AnnouncementViewSet
from accounts.api.notifications import NotificationDeliveryViewSet, NotificationViewSet
from accounts.api.views import AuditViewSet, PersonViewSet, TokenViewSet
from kernel.api.router import PortalRouter

router = PortalRouter()
router.register("people", PersonViewSet, basename="person")
router.register("tokens", TokenViewSet, basename="token")
router.register("announcements", AnnouncementViewSet, basename="announcement")
router.register("notifications", NotificationViewSet, basename="notification")
router.register("notification-deliveries", NotificationDeliveryViewSet, basename="notification-delivery")
router.register("audit", AuditViewSet, basename="audit")

urlpatterns = router.urls
