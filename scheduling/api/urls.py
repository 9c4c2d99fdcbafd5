"""Jobs for people and programs."""

from kernel.api.router import PortalRouter
from scheduling.api.nodes import NodeActViewSet
from scheduling.api.views import JobViewSet

router = PortalRouter()
router.register("jobs", JobViewSet, basename="job")
router.register("nodes", NodeActViewSet, basename="node-act")
urlpatterns = router.urls
