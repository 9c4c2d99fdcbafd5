"""The catalogue of translations: how messages are found, merged and checked."""

import re
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.catalog import Message as Entry
from django.conf import settings
from django.core.management import CommandError, call_command
from django.test import override_settings
from django.utils.translation import gettext, ngettext, override, pgettext

from portal.catalogue import catalogue
from portal.catalogue.extract import Message, NotLiteral, of_python, of_template
from portal.management.commands.update_catalogue import LOCALES, ROOMS

COMMITTED = [settings.LOCALE_PATHS[0] / locale / "LC_MESSAGES" / "django.po" for locale in LOCALES]


def template(text: str) -> list[Message]:
    return sorted(of_template("{% load i18n %}" + text))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{% translate "One" %}', Message("One")),
        ('<p title="{% translate \'A "quoted" one\' %}">', Message('A "quoted" one')),
        ('{% translate "5 % off" %}', Message("5 %% off")),
        ('{% translate "High" context "tier" %}', Message("High", context="tier")),
        ("{% blocktranslate %}Hello {{ name }}{% endblocktranslate %}", Message("Hello %(name)s")),
        ("{% blocktranslate with a=b|c %}{{ a }} of 5 %{% endblocktranslate %}", Message("%(a)s of 5 %%")),
        ("{% blocktranslate trimmed %}\n  Two\n  lines\n{% endblocktranslate %}", Message("Two lines")),
        (
            "{% blocktranslate count n=x %}one{% plural %}{{ n }} many{% endblocktranslate %}",
            Message("one", "%(n)s many"),
        ),
        (
            '{% blocktranslate count n=x context "c" %}one{% plural %}many{% endblocktranslate %}',
            Message("one", "many", "c"),
        ),
        ('{% include "_a.html" with label=_("In a tag (x)") %}', Message("In a tag (x)")),
        ('{{ value|default:_("In a filter") }}', Message("In a filter")),
        ('{{ _("Alone") }}', Message("Alone")),
    ],
)
def test_what_a_template_says_is_found(text: str, found: Message) -> None:
    assert template(text) == [found]


def test_text_around_messages_confuses_nothing() -> None:
    text = "      it's \"odd' (text\n  {% if x %}\n {% translate 'One' %} # no comment ) \\ {# note #}\n\t{% endif %}"
    assert template(text) == [Message("One")]


def test_a_modules_own_names_for_the_functions_are_followed() -> None:
    code = (
        "from django.utils.translation import gettext as _now, ngettext_lazy, pgettext_lazy as p\n"
        "from elsewhere import gettext as other\n"
        '_now("a" "b"); ngettext_lazy("one", "many", 3); p("context", "word"); other("not ours")\n'
    )
    assert sorted(of_python(code)) == [Message("ab"), Message("one", "many"), Message("word", context="context")]


def test_a_message_that_is_made_at_run_time_is_refused() -> None:
    for argument in ("text", 'f"x{y}"', '"a" + b'):
        code = f"from django.utils.translation import gettext as _\n_({argument})\n"
        with pytest.raises(NotLiteral):
            list(of_python(code, "a.py"))


def held(**texts: str) -> Catalog:
    made = Catalog(locale="zh_Hans")
    for message, text in texts.items():
        made.add(message, text)
    return made


def test_translations_stay_and_what_is_no_longer_said_goes() -> None:
    merged = catalogue.merged(held(Old="旧", Kept="留"), [Message("Kept"), Message("Keep")])
    assert {entry.id: entry.string for entry in merged if entry.id} == {"Kept": "留", "Keep": ""}


def test_a_message_that_got_a_plural_is_translated_anew() -> None:
    (entry,) = [entry for entry in catalogue.merged(held(job="作业"), [Message("job", "jobs")]) if entry.id]
    assert entry.string == ("",)


def test_what_is_wrong_is_named() -> None:
    broken = held(Gone="无", Right="%(n)s")
    broken.add("%(count)s jobs", "作业")
    broken.add("Guess", "猜", flags=["fuzzy"])
    broken.add(("%(n)s day", "%(n)s days"), ("天",))
    said = [Message(text) for text in ("Right", "%(count)s jobs", "Guess", "New", "%(n)s day")]
    faults = sorted(fault.split(":")[0] for fault in catalogue.faults(broken, said))
    assert faults == ["fuzzy", "no longer said by the code", "not in the catalogue", *["placeholders differ"] * 3]


def test_what_is_written_is_read_again_and_stays_the_same(tmp_path: Path) -> None:
    path = tmp_path / "django.po"
    said = [Message("One %(n)s", source="b.py"), Message("day", "days", source="a.html"), Message("x", context="c")]
    written = []
    for _time in range(2):
        made = catalogue.merged(catalogue.read(path, "zh_Hans"), said)
        for entry in made:
            if entry.id and isinstance(entry.id, str):
                entry.string = f"译 {entry.id}"
        catalogue.write(made, path)
        written.append(path.read_text())
    first, second = written
    assert first == second
    assert not re.search(r"^#: .*:\d", first, re.MULTILINE)
    assert "Date" not in first
    assert not list(catalogue.faults(catalogue.read(path, "zh_Hans"), said))


@pytest.mark.parametrize("path", COMMITTED, ids=str)
def test_the_committed_translations_are_sound(path: Path) -> None:
    """``./run manage update_catalogue --check`` asks whether it is complete; a translation is never broken."""
    found = catalogue.read(path, path.parents[1].name)
    said = [said_by(entry) for entry in found if entry.id]
    assert list(catalogue.faults(found, said)) == []
    assert catalogue.untranslated(found) < len(found) / 10


def said_by(entry: Entry) -> Message:
    singular, plural = (entry.id, "") if isinstance(entry.id, str) else (entry.id[0], entry.id[1])
    return Message(singular, plural, entry.context or "")


def test_the_command_writes_and_then_finds_nothing_to_say(tmp_path: Path) -> None:
    with override_settings(LOCALE_PATHS=[tmp_path]):
        with pytest.raises(CommandError, match="not in the catalogue"):
            call_command("update_catalogue", "--check")
        call_command("update_catalogue")
        call_command("update_catalogue", "--check")


def test_every_room_with_messages_is_read() -> None:
    ours = {app for app in settings.INSTALLED_APPS if (Path(settings.BASE_DIR) / app).is_dir()}
    assert ours == set(ROOMS)


def test_django_finds_the_compiled_catalogue() -> None:
    with override("zh-hans"):
        assert gettext("Projects") == "项目"
        assert pgettext("tier", "High") == "高"
        assert ngettext("%(count)s GPU", "%(count)s GPUs", 3) % {"count": 3} == "3 个 GPU"
