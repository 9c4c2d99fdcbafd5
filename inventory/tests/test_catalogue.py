"""Reported names and the entries they belong to."""

import pytest

from inventory.catalogue import MAX_SLUG, UNRATED, entry_of


@pytest.mark.parametrize(
    ("reported", "slug"),
    [
        ("NVIDIA H100 80GB HBM3", "h100"),
        ("H100", "h100"),
        ("h100", "h100"),
        ("NVIDIA H100 PCIe", "h100-pcie"),
        ("NVIDIA H100 NVL", "h100-nvl"),
        ("NVIDIA GH200 480GB", "gh200"),
        ("NVIDIA H200", "h200"),
        ("NVIDIA A100-SXM4-80GB", "a100"),
        ("NVIDIA A100-SXM4-40GB", "a100-40gb"),
        ("NVIDIA A10", "a10"),
        ("NVIDIA A10G", "a10g"),
        ("Tesla V100-SXM2-32GB", "v100-32gb"),
        ("NVIDIA L40S", "l40s"),
        ("NVIDIA L4", "l4"),
        ("NVIDIA GeForce RTX 4090", "rtx-4090"),
        ("AMD Instinct MI300X OAM", "mi300x"),
        ("Simulated Accelerator X", "simulated-accelerator-x"),
        ("NVIDIA A100-SXM4-40GB MIG 1g.5gb", "nvidia-a100-sxm4-40gb-mig-1g-5gb"),
    ],
)
def test_known_names_have_their_entry_and_others_one_of_their_own(reported: str, slug: str) -> None:
    assert entry_of(reported).slug == slug


@pytest.mark.parametrize("reported", ["昇腾 910B", "昇腾 310P", "???", "x" * 300, "é", "very " * 40 + "long"])
def test_any_name_gets_a_slug_that_the_column_takes(reported: str) -> None:
    entry = entry_of(reported)
    assert 1 <= len(entry.slug) <= MAX_SLUG
    assert set(entry.slug) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert len(entry.title) <= 100


def test_names_that_slug_alike_stay_apart() -> None:
    slugs = {entry_of(name).slug for name in ("昇腾 910", "寒武纪 910", "x" * 100 + "a", "x" * 100 + "b")}
    assert len(slugs) == 4


def test_a_listed_card_is_rated_and_another_waits_for_an_admin() -> None:
    assert entry_of("NVIDIA H100 80GB HBM3").suitability == 1
    assert 0 < entry_of("NVIDIA L4").suitability < entry_of("NVIDIA A100-SXM4-80GB").suitability < 1
    assert entry_of("Simulated Accelerator X").suitability == UNRATED == 0
