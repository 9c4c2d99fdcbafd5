from django.apps import AppConfig


class ApprovalsConfig(AppConfig):
    name = "approvals"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from accounts.notifications import register
        from approvals import consumers, offboarding
        from approvals.telling import TOPICS
        from kernel.outbox import subscribe

        for topic in TOPICS:
            register(topic)
        offboarding.register_step()
        subscribe("role.revoked", "approvals.judge_again")(consumers.role_revoked)
        subscribe("person.deactivated", "approvals.tell_others")(consumers.person_deactivated)
