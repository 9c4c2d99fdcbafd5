"""Jobs for people and programs."""

from kernel.api.router import PortalRouter
from scheduling.api.views import JobViewSet

router = PortalRouter()
router.register("jobs", JobViewSet, basename="job")
urlpatterns = router.urls
