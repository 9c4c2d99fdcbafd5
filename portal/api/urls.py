"""Addresses of the API of the portal's own pages."""

from kernel.api.router import PortalRouter
from portal.api.views import ProjectViewViewSet

router = PortalRouter()
router.register("project-views", ProjectViewViewSet, basename="project-view")
urlpatterns = router.urls
