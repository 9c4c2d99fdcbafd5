"""A temporary claim lifts guarantee and limit each by what is missing: its limit may be the smaller one."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("quotas", "0005_pool_access"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="claim",
            name="claim_amounts",
        ),
        migrations.AddConstraint(
            model_name="claim",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("guaranteed__gte", 0),
                    models.Q(
                        ("limit__isnull", True),
                        ("limit__gte", models.F("guaranteed")),
                        models.Q(("kind", "temporary"), ("limit__gte", 0)),
                        _connector="OR",
                    ),
                ),
                name="claim_amounts",
            ),
        ),
    ]
