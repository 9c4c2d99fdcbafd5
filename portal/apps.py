"""The site as a Django application."""

from django.apps import AppConfig


class PortalConfig(AppConfig):
    """Registers the health checks of what every room needs, and what rooms below ask of those above."""

    name = "portal"

    def ready(self) -> None:
        from kernel import health
        from portal import impact, probes, tab_counts
        from portal.pages.approval import shown
        from portal.pages.request.keeping import describe_forms
        from portal.pages.views import offboarding

        health.register("database", probes.database)
        health.register("broker", probes.broker)
        health.register("workers", probes.workers)
        impact.register()
        tab_counts.register()
        shown.register()
        describe_forms()
        offboarding.register_step()
