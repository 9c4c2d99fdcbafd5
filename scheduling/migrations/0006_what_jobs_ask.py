"""Jobs may ask for GPU memory, an interconnect and a node of their own, and say whether they share a GPU. Whether an
attempt can be made to give way is fixed when it starts; those there keep what their job asked for."""

from django.db import migrations, models

FILL = """
UPDATE scheduling_attempt SET is_preemptible = job.is_preemptible
    FROM scheduling_job job WHERE job.id = scheduling_attempt.job_id AND job.is_preemptible
"""


class Migration(migrations.Migration):
    dependencies = [("scheduling", "0005_attempt_max_runtime")]
    operations = [
        migrations.AddField("job", "gpu_memory_bytes", models.BigIntegerField(default=0)),
        migrations.AddField("job", "interconnect", models.CharField(blank=True, max_length=40)),
        migrations.AddField("job", "is_exclusive", models.BooleanField(default=False)),
        migrations.AddField("job", "shares_device", models.BooleanField(default=False)),
        migrations.AddField("attempt", "is_preemptible", models.BooleanField(default=False)),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
