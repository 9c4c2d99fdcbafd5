"""Every entry of the glossary has its Chinese term, and the list of terms names no other."""

import re
from pathlib import Path

from django.conf import settings

DOCS = Path(settings.BASE_DIR) / "docs"


def test_every_entry_has_its_chinese_term() -> None:
    entries = re.findall(r"^\*\*([^*]+)\*\*", (DOCS / "glossary.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    table = (DOCS / "glossary-zh.md").read_text(encoding="utf-8").split("Words of the interface")[0]
    terms = dict(re.findall(r"^\| ([^|]+?) \| ([^|]+?) \|", table, flags=re.MULTILINE))
    terms.pop("term")
    assert sorted(terms) == sorted(entries)
    assert all(re.search(r"[\u4e00-\u9fff]", term) for term in terms.values())
