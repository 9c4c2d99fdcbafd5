"""What a GPU-hour costs is reckoned once, for who asks and for who decides."""

from decimal import Decimal

import pytest
from django.core.cache import cache

from inventory.models import Device, GpuModel, Node
from inventory.services import PriceSpec, price_set
from kernel import clock
from portal.pages.price import ModelPrice, model_price
from quotas.tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_kept() -> None:
    cache.clear()


def priced(node: Node, amount: int, currency: str = "USD") -> None:
    price_set(actor=make.granter(), node_id=node.pk, price=PriceSpec(Decimal(amount), currency))


def price_now(model: GpuModel) -> ModelPrice:
    cache.clear()
    return model_price(model, clock.now())


def test_each_node_weighs_as_many_gpus_as_it_has() -> None:
    model, one = make.capacity(8, "n1")
    _model, two = make.capacity(24, "n2")
    assert price_now(model) == ModelPrice(None, "", 2, 2)
    priced(one, 2)
    assert price_now(model) == ModelPrice(None, "", 2, 1)
    priced(two, 6)
    assert price_now(model) == ModelPrice(Decimal(5), "USD", 2, 0)


def test_simulated_gpus_count_only_where_there_is_no_other() -> None:
    model, real = make.capacity(8, "n1")
    _model, simulated = make.capacity(8, "n2")
    Device.objects.filter(node=simulated).update(is_simulated=True)
    priced(real, 2)
    priced(simulated, 6)
    assert price_now(model) == ModelPrice(Decimal(2), "USD", 1, 0)
    Device.objects.update(is_simulated=True)
    assert price_now(model) == ModelPrice(Decimal(4), "USD", 2, 0)


def test_two_currencies_are_no_price_and_no_gpu_is_none() -> None:
    model, one = make.capacity(8, "n1")
    _model, two = make.capacity(8, "n2")
    priced(one, 2)
    priced(two, 2, "CNY")
    assert price_now(model) == ModelPrice(None, "", 2, 0)
    assert price_now(GpuModel.objects.create(name="none", title="None")) == ModelPrice()


def test_what_is_kept_is_what_was_reckoned() -> None:
    model, one = make.capacity(8, "n1")
    priced(one, 2)
    first = price_now(model)
    assert model_price(model, clock.now()) == first == ModelPrice(Decimal(2), "USD", 1, 0)
