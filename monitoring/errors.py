"""Refusals of monitoring."""

from django.utils.translation import gettext_lazy as _

from kernel.errors import Invalid


class MalformedBatch(Invalid):
    """A batch that cannot be read as samples; ``errors`` names the paths."""

    code = "malformed_batch"
    title = _("These samples cannot be read")
