from importlib import import_module

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        import_module("accounts.api.schema")  # Registers itself with the generator of the OpenAPI document.
        import_module("accounts.offboarding.account").register_step()
        import_module("accounts.notifications.own").register_topics()
