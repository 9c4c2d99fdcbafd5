from django.apps import AppConfig


class QuotasConfig(AppConfig):
    name = "quotas"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from kernel.outbox import subscribe
        from quotas import consumers

        subscribe("project.closed", "quotas.end_claims")(consumers.project_closed)
        subscribe("capacity.changed", "quotas.cover_pools")(consumers.capacity_changed)
