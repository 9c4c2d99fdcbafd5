"""A claim names the request that it was granted by (QUO5)."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("quotas", "0007_quota_requests"),
    ]

    operations = [
        migrations.AddField(
            model_name="claim",
            name="request",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="claims", to="quotas.quotarequest"
            ),
        ),
    ]
