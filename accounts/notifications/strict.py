"""Templates of what leaves the house: an undefined variable is an error there, never a hole.

Django's own engine prints nothing for what is not defined, and takes it for false in a condition. Here all names of a
template come from ``Names``, which raises.
"""

from typing import Any

from django.conf import settings
from django.template import Context, Engine


class Undefined(Exception):
    """A template of a mail asks for a name that it was not given."""


class Names(dict[str, Any]):
    """Values by name for such a template, at the top and inside of lists."""

    def __missing__(self, key: str) -> Any:
        raise Undefined(key)


class _StrictContext(Context):
    """Unlike ``KeyError``, the error of a missing name passes through every tag."""

    def __getitem__(self, key: Any) -> Any:
        if key not in self:
            raise Undefined(str(key))
        return super().__getitem__(key)


class _Raises(str):
    """What the engine writes in place of an attribute that is not there, or of a name inside of a translation."""

    __slots__ = ()

    def __mod__(self, name: object) -> str:
        raise Undefined(str(name))


def render(template: str, names: Names) -> str:
    """The template in the active language; ``.html`` escapes every value, other templates none."""
    engine = Engine(
        dirs=[str(settings.BASE_DIR / "templates")],
        libraries={"i18n": "django.templatetags.i18n"},
        string_if_invalid=_Raises("%s"),
        autoescape=template.endswith(".html"),
    )
    context = _StrictContext(names, autoescape=engine.autoescape)
    return engine.get_template(template).render(context)
