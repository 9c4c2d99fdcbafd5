from django.apps import AppConfig


class MonitoringConfig(AppConfig):
    """Offers the portal's gauges to Prometheus."""

    name = "monitoring"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from prometheus_client import REGISTRY

        from monitoring.metrics import PortalCollector

        REGISTRY.register(PortalCollector())
