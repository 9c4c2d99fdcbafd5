"""How long an attempt may run is fixed when it is placed; those there are keep what their job asked for."""

from django.db import migrations, models

FILL = """
UPDATE scheduling_attempt SET max_runtime_s = job.max_runtime_s
    FROM scheduling_job job WHERE job.id = scheduling_attempt.job_id AND job.max_runtime_s IS NOT NULL
"""


class Migration(migrations.Migration):
    dependencies = [("scheduling", "0004_allocation_guard")]
    operations = [
        migrations.AddField("attempt", "max_runtime_s", models.PositiveIntegerField(null=True)),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
