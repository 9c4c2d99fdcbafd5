import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("inventory", "0004_rate_known_models"),
        ("projects", "0007_approvals_of_submitted"),
        ("quotas", "0008_claim_request"),
    ]

    operations = [
        migrations.CreateModel(
            name="LimitCrossing",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("level", models.PositiveSmallIntegerField()),
                ("since", models.DateTimeField()),
                ("below_since", models.DateTimeField(null=True)),
                (
                    "gpu_model",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="inventory.gpumodel"
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="limit_crossings",
                        to="projects.project",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("project", "gpu_model", "level"), name="limitcrossing_once")
                ],
            },
        ),
    ]
