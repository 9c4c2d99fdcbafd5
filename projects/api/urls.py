"""Addresses of the registry's API."""

from kernel.api.router import PortalRouter
from projects.api.imports import ImportViewSet
from projects.api.suitability import SuitabilityViewSet
from projects.api.views import MemberViewSet, ProjectViewSet, ResearchAreaViewSet

router = PortalRouter()
router.register("projects", ProjectViewSet, basename="project")
router.register(r"projects/(?P<project_id>[0-9]{1,18})/members", MemberViewSet, basename="project-member")
router.register(r"projects/(?P<project_id>[0-9]{1,18})/suitability", SuitabilityViewSet, basename="project-suitability")
router.register("project-imports", ImportViewSet, basename="project-import")
router.register("research-areas", ResearchAreaViewSet, basename="research-area")
urlpatterns = router.urls
