"""Nobody could choose a language so far, so what is stored is no choice: it becomes *as the browser asks*."""

from typing import Any

from django.db import migrations, models


def forget_defaults(apps: Any, schema_editor: Any) -> None:
    apps.get_model("accounts", "Person").objects.filter(language="en").update(language="")


def name_a_language(apps: Any, schema_editor: Any) -> None:
    apps.get_model("accounts", "Person").objects.filter(language="").update(language="en")


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_person_session_epoch")]

    operations = [
        migrations.AlterField("person", "language", models.CharField(blank=True, default="", max_length=10)),
        migrations.RunPython(forget_defaults, name_a_language),
    ]
