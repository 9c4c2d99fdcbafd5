from django.apps import AppConfig


class KernelConfig(AppConfig):
    name = "kernel"
    default_auto_field = "django.db.models.BigAutoField"
