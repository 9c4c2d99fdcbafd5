import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    """The thread of question and answer."""

    dependencies = [
        ("projects", "0002_name_of_drafts"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Question",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("text", models.TextField()),
                ("asked_at", models.DateTimeField()),
                ("answer", models.TextField(blank=True)),
                ("answered_at", models.DateTimeField(null=True)),
                (
                    "answered_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "asked_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="questions", to="projects.project"
                    ),
                ),
            ],
            options={
                "ordering": ["asked_at", "id"],
            },
        ),
        migrations.AddConstraint(
            model_name="question",
            constraint=models.UniqueConstraint(
                condition=models.Q(("answered_at__isnull", True)), fields=("project",), name="question_open_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="question",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("answer", ""), ("answered_at__isnull", True), ("answered_by__isnull", True)),
                    models.Q(
                        ("answered_at__isnull", False),
                        ("answered_by__isnull", False),
                        models.Q(("answer", ""), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="question_answered_whole",
            ),
        ),
    ]
