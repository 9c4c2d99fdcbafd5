from django.apps import AppConfig


class ProjectsConfig(AppConfig):
    name = "projects"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from projects import offboarding
        from projects.registration.keeping import describe_forms

        describe_forms()
        offboarding.register_step()
