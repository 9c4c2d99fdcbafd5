import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    """What projects measured on each GPU model."""

    dependencies = [
        ("inventory", "0003_suitability"),
        ("projects", "0003_questions"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Measurement",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("throughput", models.DecimalField(decimal_places=6, max_digits=18, null=True)),
                ("unit", models.CharField(blank=True, max_length=40)),
                ("evidence", models.TextField()),
                ("job", models.CharField(blank=True, max_length=60)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("proposed", "proposed"),
                            ("confirmed", "confirmed"),
                            ("rejected", "rejected"),
                            ("withdrawn", "withdrawn"),
                            ("superseded", "superseded"),
                            ("revoked", "revoked"),
                        ],
                        default="proposed",
                        max_length=20,
                    ),
                ),
                ("stated_at", models.DateTimeField()),
                ("decided_at", models.DateTimeField(null=True)),
                ("decision_reason", models.TextField(blank=True)),
                (
                    "decided_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "gpu_model",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="inventory.gpumodel"
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="measurements", to="projects.project"
                    ),
                ),
                (
                    "stated_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "ordering": ["-stated_at", "-id"],
            },
        ),
        migrations.AddConstraint(
            model_name="measurement",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "proposed")),
                fields=("project", "gpu_model"),
                name="measurement_proposed_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="measurement",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "confirmed")),
                fields=("project", "gpu_model"),
                name="measurement_confirmed_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="measurement",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("throughput__isnull", True), ("unit", "")),
                    models.Q(("throughput__gt", 0), models.Q(("unit", ""), _negated=True)),
                    _connector="OR",
                ),
                name="measurement_throughput_with_unit",
            ),
        ),
    ]
