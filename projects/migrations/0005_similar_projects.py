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
        migrations.AddIndex(
            model_name="project",
            index=django.contrib.postgres.indexes.GinIndex(
                django.contrib.postgres.indexes.OpClass(
                    models.Func(
                        models.F("name"),
                        models.Value("([\u3400-\u9fff\uf900-\ufaff])"),
                        models.Value(" \\1 "),
                        models.Value("g"),
                        function="regexp_replace",
                        output_field=models.TextField(),
                    ),
                    name="gin_trgm_ops",
                ),
                name="project_name_trigrams",
            ),
        ),
        migrations.AddIndex(
            model_name="project",
            index=django.contrib.postgres.indexes.GinIndex(fields=["datasets"], name="project_datasets"),
        ),
    ]
