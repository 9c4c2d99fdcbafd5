from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("quotas", "0009_limit_crossings")]

    operations = [
        migrations.AddField(
            model_name="quotarequest",
            name="keeps_limit",
            field=models.BooleanField(default=False),
        ),
    ]
