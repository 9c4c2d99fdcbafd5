"""The same time of the same allocation is charged once, and never for less than nothing."""

import django.contrib.postgres.constraints
import django.contrib.postgres.fields.ranges
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("scheduling", "0002_fetch_and_model")]

    operations = [
        migrations.AddConstraint(
            "charge",
            django.contrib.postgres.constraints.ExclusionConstraint(
                expressions=[("allocation", "="), ("during", "&&")], name="charge_once"
            ),
        ),
        migrations.AddConstraint(
            "charge",
            models.CheckConstraint(condition=models.Q(("milli_gpu_seconds__gte", 0)), name="charge_not_negative"),
        ),
    ]
