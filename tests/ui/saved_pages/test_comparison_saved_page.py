"""A comparison saved as a page, in a browser without a kernel and without a network."""

import re
from pathlib import Path

from playwright.sync_api import Page, expect

import tvmdbg_widgets as tvmdbg


def test_both_graphs_are_linked_in_a_saved_page(page: Page, corpus: Path, tmp_path: Path) -> None:
    a, b = (tvmdbg.open(corpus / f"tvm/resnet20_cifar{more}") for more in ("", "_unfused"))
    view = tvmdbg.ComparisonView(a, b, titles=("fused", "apart"), kind="fusion")
    path = view.save_html(tmp_path / "comparison.html")
    assert path.read_bytes() == view.save_html(tmp_path / "again.html").read_bytes()
    problems: list[str] = []
    page.on("pageerror", lambda problem: problems.append(str(problem)))
    page.context.set_offline(True)
    page.goto(path.as_uri())
    expect(page.locator("html")).to_have_attribute("data-started", "true")
    expect(page.locator("h1")).to_have_text("fused ~ apart")
    root = page.locator(".tvmdbg-comparison")
    expect(root.locator(".tvmdbg-comparison-sentence")).to_contain_text("B is 1.32× slower")
    expect(root.get_by_label("Kind of difference")).to_have_value("fusion")
    expect(root).to_have_attribute("data-ready", "true")
    root.focus()
    page.keyboard.press("ArrowDown")
    expect(root.locator(".tvmdbg-comparison-here")).to_contain_text(
        re.compile("#3 .* ~ B #2, #4, #5")
    )
    selected = page.evaluate(
        "['session', 'session_b'].map(name => tvmdbgPage.models[name].get('selected'))"
    )
    assert selected[0] == [3]
    assert sorted(selected[1]) == [2, 4, 5]
    graphs = root.locator(".tvmdbg-graph")
    expect(graphs).to_have_count(2)
    assert not problems


def test_an_embedded_comparison_carries_both_runs(corpus: Path) -> None:
    a, b = (tvmdbg.open(corpus / f"tvm/resnet20_cifar{more}") for more in ("", "_nchw8c"))
    html = tvmdbg.ComparisonView(a, b).embed().html
    assert "tvmdbg-data-b" in html
