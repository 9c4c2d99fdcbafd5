"""When a member was fetched, how much of its log is stored, and on which GPU model an attempt was placed."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("inventory", "0001_initial"), ("scheduling", "0001_initial")]

    operations = [
        migrations.AddField("attemptmember", "fetched_at", models.DateTimeField(null=True)),
        migrations.AddField("attemptmember", "log_stored_bytes", models.BigIntegerField(default=0)),
        # There are no attempts before this migration, so the default is never stored.
        migrations.AddField(
            "attempt",
            "gpu_model",
            models.ForeignKey(
                default=0, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="inventory.gpumodel"
            ),
            preserve_default=False,
        ),
    ]
