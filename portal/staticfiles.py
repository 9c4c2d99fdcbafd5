"""Which files of the front-end packages are served."""

from django.contrib.staticfiles.apps import StaticFilesConfig


class SelectedStaticFiles(StaticFilesConfig):
    """Leaves out what no page of ours uses: brand pictures and variants of Tabler, most of its size."""

    ignore_patterns = [
        *StaticFilesConfig.ignore_patterns,
        "tabler-flags*",
        "tabler-marketing*",
        "tabler-payments*",
        "tabler-socials*",
        "*.rtl.*",
    ]
