import django.contrib.postgres.indexes
from django.contrib.postgres.operations import TrigramExtension
from django.db import migrations, models


class Migration(migrations.Migration):
    """Finding projects of a like name, or with the same datasets."""

    dependencies = [
        ("projects", "0004_measurements"),
    ]

    operations = [
        TrigramExtension(),
        migrations.AddField(
            model_name="project",
            name="name_spaced",
            field=models.GeneratedField(
                db_persist=True,
                editable=False,
                expression=models.Func(
                    models.F("name"),
                    models.Value("([\u3400-\u9fff\uf900-\ufaff])"),
                    models.Value(" \\1 "),
                    models.Value("g"),
                    function="regexp_replace",
                    output_field=models.TextField(),
                ),
                output_field=models.TextField(),
            ),
        ),
        migrations.AddIndex(
            model_name="project",
            index=django.contrib.postgres.indexes.GinIndex(
                fields=["name_spaced"], name="project_name_trigrams", opclasses=["gin_trgm_ops"]
            ),
        ),
        migrations.AddIndex(
            model_name="project",
            index=django.contrib.postgres.indexes.GinIndex(fields=["datasets"], name="project_datasets"),
        ),
    ]
