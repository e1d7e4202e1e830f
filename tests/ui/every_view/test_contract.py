"""The page's static models keep the contract that anywidget's models keep (see test_lab.py)."""

from playwright.sync_api import Page

import tvmdbg_widgets as tvmdbg
from tests.ui.contract import broken
from tests.ui.host import serve, visit


def test_static_models_keep_the_contract(page: Page) -> None:
    with serve(tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)) as address:
        visit(page, f"{address}?views=contract")
        assert broken(page.locator(".contract")) == {}

        set_hovered = "(node) => tvmdbg.models.session.set('hovered', node)"
        page.evaluate(set_hovered, 5)
        assert page.evaluate("contractHeard") == 1
        page.evaluate("tvmdbg.close()")
        page.evaluate(set_hovered, 6)
        assert page.evaluate("[contractHeard, contractGone]") == [1, True]
