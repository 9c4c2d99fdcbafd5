"""Scheduling as a Django application."""

from django.apps import AppConfig


class SchedulingConfig(AppConfig):
    """Subscribes to the rooms below and answers what they ask."""

    name = "scheduling"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from kernel import health
        from scheduling import events, heartbeat

        health.register("scheduler", heartbeat.health)
        events.subscribe_all()
