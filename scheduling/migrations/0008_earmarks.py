"""GPUs that were freed for a job are kept for it; a decision keeps what it changed, with these and who gave way."""

import django.db.models.deletion
from django.db import migrations, models

CASCADE = django.db.models.deletion.CASCADE


class Migration(migrations.Migration):
    dependencies = [("inventory", "0004_rate_known_models"), ("scheduling", "0007_interruptions")]
    operations = [
        migrations.CreateModel(
            name="Earmark",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("job", models.ForeignKey(on_delete=CASCADE, related_name="earmarks", to="scheduling.job")),
                ("node", models.ForeignKey(on_delete=CASCADE, related_name="earmarks", to="inventory.node")),
                ("milli", models.PositiveIntegerField()),
                ("since", models.DateTimeField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("job", "node"), name="earmark_once"),
                    models.CheckConstraint(condition=models.Q(("milli__gte", 1)), name="earmark_milli"),
                ],
            },
        ),
        migrations.AddField("decision", "preempted", models.JSONField(default=list)),
        migrations.AddField("decision", "earmarks", models.JSONField(null=True)),
    ]
