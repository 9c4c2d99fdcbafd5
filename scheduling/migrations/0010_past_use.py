"""What projects used, decayed: the sum of what is long over, and an index for what was released since."""

import django.db.models.deletion
from django.db import migrations, models

CASCADE = django.db.models.deletion.CASCADE


class Migration(migrations.Migration):
    dependencies = [
        ("inventory", "0004_rate_known_models"),
        ("projects", "0006_project_imports"),
        ("scheduling", "0009_policy"),
    ]
    operations = [
        migrations.CreateModel(
            name="PastUse",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("project", models.ForeignKey(on_delete=CASCADE, related_name="+", to="projects.project")),
                ("gpu_model", models.ForeignKey(on_delete=CASCADE, related_name="+", to="inventory.gpumodel")),
                ("milli_gpu_seconds", models.FloatField()),
                ("through", models.DateTimeField()),
                ("half_life_s", models.PositiveIntegerField()),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("project", "gpu_model"), name="pastuse_once")],
            },
        ),
        migrations.AddIndex("deviceallocation", models.Index(fields=["released_at"], name="deviceallocation_released")),
    ]
