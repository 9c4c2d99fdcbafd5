"""Numbers in addresses: as strict as those in bodies, whatever was typed."""

from django.utils.translation import gettext as _

from kernel.errors import Invalid

SHOWN = 40


def whole_number(name: str, raw: str, least: int, most: int) -> int:
    """The number that ``raw`` writes. Raises ``Invalid`` for parameter ``name`` saying what is allowed."""
    digits = len(str(most))
    if raw.isascii() and raw.isdigit() and len(raw) <= digits and least <= int(raw) <= most:
        return int(raw)
    text = _("“%(value)s” is not a whole number from %(least)s to %(most)s")
    raise Invalid({name: text % {"value": raw[:SHOWN], "least": least, "most": most}})
