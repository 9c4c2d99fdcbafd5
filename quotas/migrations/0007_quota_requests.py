import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("inventory", "0004_rate_known_models"),
        ("projects", "0006_project_imports"),
        ("quotas", "0006_temporary_amounts"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="QuotaRequest",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("guaranteed", models.BigIntegerField(null=True)),
                ("limit", models.BigIntegerField(null=True)),
                ("least", models.BigIntegerField(null=True)),
                ("starts_at", models.DateTimeField(null=True)),
                ("ends_at", models.DateTimeField(null=True)),
                ("reason", models.TextField(blank=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("draft", "draft"),
                            ("submitted", "submitted"),
                            ("returned", "asked back"),
                            ("approved", "approved"),
                            ("rejected", "rejected"),
                            ("withdrawn", "withdrawn"),
                        ],
                        default="draft",
                        max_length=20,
                    ),
                ),
                ("created_at", models.DateTimeField()),
                ("updated_at", models.DateTimeField()),
                ("submitted_at", models.DateTimeField(null=True)),
                ("is_raise", models.BooleanField(default=False)),
                ("granted_guaranteed", models.BigIntegerField(null=True)),
                ("granted_limit", models.BigIntegerField(null=True)),
                ("granted_from", models.DateTimeField(null=True)),
                ("granted_ends_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="RequestAttachment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=200)),
                ("content_type", models.CharField(max_length=100)),
                ("size", models.PositiveIntegerField()),
                ("sha256", models.CharField(max_length=64)),
                ("content", models.BinaryField()),
                ("added_at", models.DateTimeField()),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.AddField(
            model_name="quotarequest",
            name="cloned_from",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="clones", to="quotas.quotarequest"
            ),
        ),
        migrations.AddField(
            model_name="quotarequest",
            name="created_by",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="quotarequest",
            name="gpu_model",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="inventory.gpumodel"
            ),
        ),
        migrations.AddField(
            model_name="quotarequest",
            name="project",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="quota_requests", to="projects.project"
            ),
        ),
        migrations.AddField(
            model_name="quotarequest",
            name="submitted_by",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="requestattachment",
            name="added_by",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="requestattachment",
            name="request",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="attachments", to="quotas.quotarequest"
            ),
        ),
        migrations.AddIndex(
            model_name="quotarequest",
            index=models.Index(fields=["project", "-id"], name="quotarequest_project"),
        ),
        migrations.AddIndex(
            model_name="quotarequest",
            index=models.Index(
                condition=models.Q(("granted_ends_at__isnull", False)),
                fields=["granted_ends_at"],
                name="quotarequest_ends",
            ),
        ),
        migrations.AddConstraint(
            model_name="quotarequest",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state__in", ("submitted", "returned"))),
                fields=("project", "gpu_model"),
                name="quotarequest_open_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="quotarequest",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("state__in", ["draft", "withdrawn"]),
                    models.Q(("gpu_model__isnull", False), ("guaranteed__isnull", False)),
                    _connector="OR",
                ),
                name="quotarequest_stated",
            ),
        ),
        migrations.AddConstraint(
            model_name="quotarequest",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("guaranteed__isnull", True), ("guaranteed__gte", 0), _connector="OR"),
                    models.Q(("limit__isnull", True), ("limit__gte", 0), _connector="OR"),
                    models.Q(("least__isnull", True), ("least__gte", 0), _connector="OR"),
                ),
                name="quotarequest_amounts",
            ),
        ),
        migrations.AddConstraint(
            model_name="quotarequest",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("granted_from__isnull", False), ("granted_guaranteed__isnull", False), ("state", "approved")
                    ),
                    models.Q(
                        models.Q(("state", "approved"), _negated=True),
                        ("granted_from__isnull", True),
                        ("granted_guaranteed__isnull", True),
                    ),
                    _connector="OR",
                ),
                name="quotarequest_granted",
            ),
        ),
        migrations.AddConstraint(
            model_name="quotarequest",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("starts_at__isnull", True),
                    ("ends_at__isnull", True),
                    ("ends_at__gt", models.F("starts_at")),
                    _connector="OR",
                ),
                name="quotarequest_window",
            ),
        ),
    ]
