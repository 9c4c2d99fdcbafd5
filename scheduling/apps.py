"""Scheduling as a Django application."""

from django.apps import AppConfig


class SchedulingConfig(AppConfig):
    """Subscribes to the rooms below and answers what they ask."""

    name = "scheduling"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from kernel import health
        from quotas import protected as quotas_protected
        from quotas import usage as quotas_usage
        from scheduling import events, heartbeat, offboarding
        from scheduling.selectors.protected import protected_now
        from scheduling.selectors.usage import used_at

        quotas_protected.register(protected_now)
        quotas_usage.register(used_at)
        health.register("scheduler", heartbeat.health)
        events.subscribe_all()
        offboarding.register_step()
