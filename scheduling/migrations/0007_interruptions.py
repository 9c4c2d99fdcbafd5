"""The ledger of interruptions, and when a node began to stop a member."""

import django.db.models.deletion
from django.db import migrations, models

CAUSES = [
    ("finished", "finished"),
    ("user", "stopped by a person"),
    ("timeout", "max runtime reached"),
    ("preempted", "preempted"),
    ("node_lost", "node lost"),
    ("hardware", "hardware fault"),
    ("launch_failed", "could not be launched"),
]
PROTECT = django.db.models.deletion.PROTECT


class Migration(migrations.Migration):
    dependencies = [("scheduling", "0006_what_jobs_ask")]
    operations = [
        migrations.AddField("attemptmember", "signalled_at", models.DateTimeField(null=True)),
        migrations.CreateModel(
            name="Interruption",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "attempt",
                    models.OneToOneField(on_delete=PROTECT, related_name="interruption", to="scheduling.attempt"),
                ),
                ("job", models.ForeignKey(on_delete=PROTECT, related_name="interruptions", to="scheduling.job")),
                (
                    "by",
                    models.ForeignKey(null=True, on_delete=PROTECT, related_name="interrupted", to="scheduling.job"),
                ),
                ("cause", models.CharField(choices=CAUSES, max_length=20)),
                ("milli_gpus", models.PositiveIntegerField()),
                ("requested_at", models.DateTimeField()),
                ("checkpoint_at", models.DateTimeField(null=True)),
                ("lost_from", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                ("lost_milli_gpu_seconds", models.BigIntegerField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["job", "requested_at"], name="interruption_job_day"),
                    models.Index(fields=["ended_at"], name="interruption_ended_at"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("ended_at__isnull", True), ("lost_milli_gpu_seconds__isnull", True))
                        | models.Q(("ended_at__isnull", False), ("lost_milli_gpu_seconds__gte", 0)),
                        name="interruption_booked_whole",
                    )
                ],
            },
        ),
    ]
