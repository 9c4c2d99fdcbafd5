from django.apps import AppConfig


class QuotasConfig(AppConfig):
    name = "quotas"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from accounts.notifications import register as register_topic
        from approvals.kinds import register
        from kernel.outbox import subscribe
        from quotas import consumers, crossings, ends
        from quotas.approvals import QuotaRequestKind

        subscribe("project.closed", "quotas.end_claims")(consumers.project_closed)
        subscribe("capacity.changed", "quotas.cover_pools")(consumers.capacity_changed)
        subscribe("project.closed", "quotas.withdraw_requests")(consumers.withdraw_requests)
        register(QuotaRequestKind())
        for topic in (*ends.TOPICS, *crossings.TOPICS):
            register_topic(topic)
