from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ApprovalsConfig(AppConfig):
    name = "approvals"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from accounts.notifications import register, register_group
        from accounts.notifications.topics import Group
        from approvals import consumers, offboarding
        from approvals.telling import GROUP, TOPICS
        from kernel.outbox import subscribe

        label, about = _("Approvals"), _("What waits for your decision, and what became of what you asked for.")
        register_group(Group(GROUP, label, about))
        for topic in TOPICS:
            register(topic)
        offboarding.register_step()
        subscribe("role.revoked", "approvals.judge_again")(consumers.role_revoked)
        subscribe("person.deactivated", "approvals.tell_others")(consumers.person_deactivated)
