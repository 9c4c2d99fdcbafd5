from django.apps import AppConfig


class ProjectsConfig(AppConfig):
    name = "projects"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from approvals.kinds import register
        from projects import offboarding
        from projects.registration.keeping import describe_forms
        from projects.registration_kind import RegistrationKind

        describe_forms()
        register(RegistrationKind())
        offboarding.register_step()
