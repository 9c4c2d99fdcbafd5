"""Fields whose refusals name the value and what is allowed, as every message of the API does."""

from decimal import Decimal, InvalidOperation
from typing import Any

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from scheduling.engine import MILLI

SHOWN = 60
LARGEST = 2**63 - 1


def shown(value: object) -> str:
    """A value as a message quotes it: short, whatever was sent."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


class WholeNumber(serializers.IntegerField):
    """A JSON integer, not a text or a fraction, inside what the database holds."""

    default_error_messages = {
        "invalid": _("“{value}” is not a whole number"),
        "range": _("{value} is too large; at most {most} is allowed"),
    }

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, bool) or not isinstance(data, int):
            self.fail("invalid", value=shown(data))
        if abs(data) > LARGEST:
            self.fail("range", value=shown(data), most=LARGEST)
        return int(data)


class Gpus(serializers.DecimalField):
    """Whole GPUs, or a part of one in thousandths; inside they are milli-GPU."""

    default_error_messages = {
        "invalid": _("“{value}” is not a number of GPUs"),
        "step": _("{value} GPUs: parts of a GPU come in thousandths"),
    }

    def __init__(self, **options: Any) -> None:
        super().__init__(max_digits=None, decimal_places=3, coerce_to_string=False, **options)

    def to_internal_value(self, data: Any) -> int:  # type: ignore[override]
        try:
            if isinstance(data, bool) or not isinstance(data, int | float | str):
                raise InvalidOperation
            milli = Decimal(str(data).strip()[:SHOWN]) * MILLI
            if not milli.is_finite() or abs(milli) > LARGEST:
                raise InvalidOperation
        except InvalidOperation:
            self.fail("invalid", value=shown(data))
        if milli != milli.to_integral_value():
            self.fail("step", value=shown(data))
        return int(milli)

    def to_representation(self, value: int) -> int | float:  # type: ignore[override]
        return gpus_of(value)


class Flag(serializers.BooleanField):
    default_error_messages = {"invalid": _("“{value}” is not true or false")}

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", value=shown(data))
        return data


class Text(serializers.CharField):
    """A text as it was sent: nothing is trimmed. What the database cannot hold is refused."""

    default_error_messages = {"invalid": _("“{value}” is not a text")}

    def __init__(self, **options: Any) -> None:
        super().__init__(trim_whitespace=False, **options)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid", value=shown(data))
        return data


class TextList(serializers.ListField):
    """A list of texts."""

    default_error_messages = {"not_a_list": _("A list of texts is expected, not “{value}”")}

    def __init__(self, **options: Any) -> None:
        super().__init__(child=Text(allow_blank=True), **options)

    def to_internal_value(self, data: Any) -> list[str]:
        if not isinstance(data, list):
            self.fail("not_a_list", value=shown(data))
        return list(super().to_internal_value(data))


class ModelName(serializers.CharField):
    """A GPU model by name or by id."""

    default_error_messages = {"invalid": _("“{value}” is not the name or id of a GPU model")}

    def to_internal_value(self, data: Any) -> str:
        if isinstance(data, bool) or not isinstance(data, str | int) or not str(data).strip():
            self.fail("invalid", value=shown(data))
        return str(data).strip()


class Variables(serializers.DictField):
    """Environment variables: names to texts."""

    default_error_messages = {"not_a_dict": _("Names and their values are expected, not “{value}”")}

    def __init__(self, **options: Any) -> None:
        super().__init__(child=Text(allow_blank=True), **options)

    def to_internal_value(self, data: Any) -> dict[str, str]:
        if not isinstance(data, dict):
            self.fail("not_a_dict", value=shown(data))
        return dict(super().to_internal_value(data))


class Dataset(serializers.DictField):
    """``{"path": …, "version": …}``, or only the path."""

    default_error_messages = {"not_a_dict": _("A path, or a path with a version, is expected, not “{value}”")}

    def __init__(self, **options: Any) -> None:
        super().__init__(child=Text(allow_blank=True), **options)

    def to_internal_value(self, data: Any) -> dict[str, str]:
        if isinstance(data, str):
            return {"path": data}
        if not isinstance(data, dict):
            self.fail("not_a_dict", value=shown(data))
        return dict(super().to_internal_value(data))


def gpus_of(milli: int) -> int | float:
    """Milli-GPU as the API says them: a whole number where they are whole."""
    return milli // MILLI if milli % MILLI == 0 else milli / MILLI
