"""Telemetry for people and programs."""

from kernel.api.router import PortalRouter
from monitoring.api.views import GpuTelemetryViewSet, JobTelemetryViewSet, ProjectTelemetryViewSet

router = PortalRouter()
router.register("telemetry/gpus", GpuTelemetryViewSet, basename="telemetry-gpu")
router.register("telemetry/jobs", JobTelemetryViewSet, basename="telemetry-job")
router.register("telemetry/projects", ProjectTelemetryViewSet, basename="telemetry-project")
urlpatterns = router.urls
