"""The site as a Django application."""

from django.apps import AppConfig


class PortalConfig(AppConfig):
    """Registers the health checks of what every room needs: database, broker, workers."""

    name = "portal"

    def ready(self) -> None:
        from kernel import health
        from portal import probes

        health.register("database", probes.database)
        health.register("broker", probes.broker)
        health.register("workers", probes.workers)
