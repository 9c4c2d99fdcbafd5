"""From the name that a driver reports to the catalogue's entry. Pure.

Cards that differ in memory or form differ in what they are good for, so they get entries of their own; a name
that nobody listed gets one too, made from the name. A new accelerator needs a line here at most (ELA5).
"""

import re
import zlib
from dataclasses import dataclass

MAX_SLUG = 60


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    slug: str
    title: str


# All words of a line must stand in the reported name; the first line that fits is taken.
_KNOWN: tuple[tuple[frozenset[str], CatalogueEntry], ...] = tuple(
    (frozenset(words.split()), CatalogueEntry(slug, title))
    for words, slug, title in (
        ("gb200", "gb200", "NVIDIA GB200"),
        ("b200", "b200", "NVIDIA B200"),
        ("gh200", "gh200", "NVIDIA GH200"),
        ("h200 nvl", "h200-nvl", "NVIDIA H200 NVL"),
        ("h200", "h200", "NVIDIA H200"),
        ("h100 nvl", "h100-nvl", "NVIDIA H100 NVL"),
        ("h100 pcie", "h100-pcie", "NVIDIA H100 PCIe"),
        ("h100", "h100", "NVIDIA H100"),
        ("h800", "h800", "NVIDIA H800"),
        ("h20", "h20", "NVIDIA H20"),
        ("a100 40gb", "a100-40gb", "NVIDIA A100 40 GB"),
        ("a100", "a100", "NVIDIA A100"),
        ("a800", "a800", "NVIDIA A800"),
        ("a40", "a40", "NVIDIA A40"),
        ("a30", "a30", "NVIDIA A30"),
        ("a10g", "a10g", "NVIDIA A10G"),
        ("a10", "a10", "NVIDIA A10"),
        ("l40s", "l40s", "NVIDIA L40S"),
        ("l40", "l40", "NVIDIA L40"),
        ("l4", "l4", "NVIDIA L4"),
        ("v100 32gb", "v100-32gb", "NVIDIA V100 32 GB"),
        ("v100", "v100", "NVIDIA V100"),
        ("t4", "t4", "NVIDIA T4"),
        ("rtx 4090", "rtx-4090", "NVIDIA RTX 4090"),
        ("mi300x", "mi300x", "AMD Instinct MI300X"),
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
