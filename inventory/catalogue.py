"""From the name that a driver reports to the catalogue's entry. Pure.

Cards that differ in memory or form differ in what they are good for, so they get entries of their own; a name
that nobody listed gets one too, made from the name. A new accelerator needs a line here at most (ELA5).

The suitability of an entry is how fast one GPU trains a large model in BF16, H100 = 1: a first guess from the
vendors' dense throughput and memory bandwidth, which an admin corrects and a project's own measurement overrides.
"""

import re
import zlib
from dataclasses import dataclass
from decimal import Decimal

MAX_SLUG = 60
UNRATED = Decimal(0)
"""Of a name that nobody listed: no review counts on such a model until an admin rates it."""


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    slug: str
    title: str
    suitability: Decimal = UNRATED


# All words of a line must stand in the reported name; the first line that fits is taken.
_KNOWN: tuple[tuple[frozenset[str], CatalogueEntry], ...] = tuple(
    (frozenset(words.split()), CatalogueEntry(slug, title, Decimal(rate)))
    for words, slug, title, rate in (
        ("gb200", "gb200", "GB200", "2.5"),
        ("b200", "b200", "B200", "2.2"),
        ("gh200", "gh200", "GH200", "1.05"),
        ("h200 nvl", "h200-nvl", "H200 NVL", "0.95"),
        ("h200", "h200", "H200", "1.15"),
        ("h100 nvl", "h100-nvl", "H100 NVL", "0.8"),
        ("h100 pcie", "h100-pcie", "H100 PCIe", "0.7"),
        ("h100", "h100", "H100", "1"),
        ("h800", "h800", "H800", "0.95"),
        ("h20", "h20", "H20", "0.2"),
        ("a100 40gb", "a100-40gb", "A100 40 GB", "0.42"),
        ("a100", "a100", "A100", "0.45"),
        ("a800", "a800", "A800", "0.43"),
        ("a40", "a40", "A40", "0.17"),
        ("a30", "a30", "A30", "0.18"),
        ("a10g", "a10g", "A10G", "0.1"),
        ("a10", "a10", "A10", "0.12"),
        ("l40s", "l40s", "L40S", "0.3"),
        ("l40", "l40", "L40", "0.2"),
        ("l4", "l4", "L4", "0.1"),
        ("v100 32gb", "v100-32gb", "V100 32 GB", "0.13"),
        ("v100", "v100", "V100", "0.12"),
        ("t4", "t4", "T4", "0.06"),
        ("rtx 4090", "rtx-4090", "RTX 4090", "0.2"),
        ("mi300x", "mi300x", "MI300X", "1.05"),
    )
)


def entry_of(reported: str) -> CatalogueEntry:
    """The catalogue's entry for a reported name: "NVIDIA H100 80GB HBM3" → ``h100``.

    A slice of a card (MIG) is never taken for the whole one.
    """
    words = re.sub(r"[^a-z0-9]+", " ", reported.casefold()).split()
    if "mig" not in words:
        for wanted, entry in _KNOWN:
            if wanted.issubset(words):
                return entry
    return CatalogueEntry(_own_slug(words, reported), " ".join(reported.split())[:100])


def _own_slug(words: list[str], reported: str) -> str:
    """The name's own words; where they say nothing or are too long, a checksum keeps two names apart."""
    slug = "-".join(words)
    if slug and len(slug) <= MAX_SLUG and reported.isascii():
        return slug
    mark = f"{zlib.crc32(reported.encode()):08x}"
    return f"{slug[: MAX_SLUG - len(mark) - 1].rstrip('-') or 'gpu'}-{mark}"
