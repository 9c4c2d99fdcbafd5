"""One decision is handed on to the same person once: what was handed on again before ends."""

from django.conf import settings
from django.db import migrations, models

ONCE = """
UPDATE approvals_delegation AS again SET revoked_at = now()
  WHERE again.revoked_at IS NULL AND again.approval_id IS NOT NULL AND EXISTS (
    SELECT 1 FROM approvals_delegation AS first
      WHERE first.id < again.id AND first.revoked_at IS NULL AND first.approval_id = again.approval_id
        AND first.principal_id = again.principal_id AND first.stand_in_id = again.stand_in_id)
"""


class Migration(migrations.Migration):
    dependencies = [
        ("approvals", "0002_no_own_vote"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunSQL(ONCE, migrations.RunSQL.noop),
        migrations.AddConstraint(
            model_name="delegation",
            constraint=models.UniqueConstraint(
                condition=models.Q(("approval__isnull", False), ("revoked_at__isnull", True)),
                fields=("principal", "stand_in", "approval"),
                name="delegation_handed_once",
            ),
        ),
    ]
