"""Figures as a browser draws them: every text within its estimate, the picture and its box."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

import tvmdbg_widgets as tvmdbg
from tests.unit.figures.figure_checks import width
from tests.unit.figures.test_figures_hostile import HOSTILE, run_of
from tvmdbg_widgets.figures.raster import Figure

WORLD = [
    "输入数据",
    "卷积层_融合_加法_激活函数_第一层_归一化_残差连接_输出",
    "畳み込みニューラルネットワークの隠れ層",
    "합성곱 신경망 계층 융합 활성화",
    "🔥🚀 fused 👩‍👩‍👧‍👦",
    "שכבת קונבולוציה 3 × 3",
    "طبقة الالتفاف",
    "z̸̧̢a̵̡l̶̢g̷o̴ ñ é ü",
    "Щука_Жёлтая_ЩЩЩЩ",
    "ＷＷＷｆｕｌｌ",
    "WWWWWWMMMMMM@@@@@@%%%%%%",
    "tvmgen_default_fused_nn_contrib_conv2d_NCHWc_add_nn_relu_14",
]

MEASURE = """() => {
  const whole = document.querySelector("svg").getBoundingClientRect();
  return [...document.querySelectorAll("svg text")].map((each) => {
    const box = each.getBoundingClientRect();
    const style = getComputedStyle(each);
    return {
      text: each.textContent, width: box.width, height: box.height,
      x: box.x - whole.x, y: box.y - whole.y,
      advance: each.getComputedTextLength(), size: parseFloat(style.fontSize),
      bold: Number(style.fontWeight) >= 600, asides: each.children.length,
    };
  });
}"""


def measured(page: Page, figure: Figure) -> list[dict[str, Any]]:
    page.set_viewport_size({"width": 2100, "height": 900})
    page.set_content(f"<body style='margin:0'>{figure.svg}")
    return page.evaluate(MEASURE)


def assert_as_estimated(page: Page, figure: Figure) -> None:
    texts = measured(page, figure)
    wide = page.evaluate("() => document.querySelector('svg').viewBox.baseVal.width")
    assert texts
    for each in texts:
        if not each["asides"]:
            assert each["advance"] <= width(each["text"], each["size"], bold=each["bold"]) + 0.5
        assert each["x"] >= 0
        assert each["x"] + each["width"] <= wide + 0.5, each
    texts.sort(key=lambda each: each["y"])
    for at, one in enumerate(texts):
        for two in texts[at + 1 :]:
            if two["y"] >= one["y"] + one["height"] - 4:
                break
            apart = (
                one["x"] + one["width"] <= two["x"] + 0.5
                or two["x"] + two["width"] <= one["x"] + 0.5
            )
            assert apart, (one, two)


@pytest.mark.parametrize("wide", [300, 720, 1400])
def test_names_in_all_scripts_fit_their_estimated_width(page: Page, wide: int) -> None:
    names = [*WORLD, *HOSTILE[:5]]
    run = run_of(names, [(at, at + 1) for at in range(len(names) - 1)])
    for options in ({}, {"direction": "right"}, {"color_by": "time"}):
        assert_as_estimated(page, run.figure("graph", width=wide, **options))
    many = [f"{WORLD[at % len(WORLD)]}{at // 7}" for at in range(700)]
    large = run_of(many, [(at, at + 1) for at in range(699)])
    assert_as_estimated(page, large.figure("graph", width=wide))


@pytest.mark.parametrize("wide", [300, 720, 1400])
@pytest.mark.parametrize("name", ["resnet20_cifar_fp16_overflow", "transformer_encoder"])
def test_texts_of_real_runs_fit_their_estimated_width(
    page: Page, corpus: Path, name: str, wide: int
) -> None:
    run = tvmdbg.open(corpus / "tvm" / name)
    run.findings(progress=False)
    for view in ("graph", "tensor", "timeline", "debugger"):
        assert_as_estimated(page, run.figure(view, width=wide))


def test_auto_theme_figure_follows_color_scheme(page: Page, corpus: Path) -> None:
    run = tvmdbg.open(corpus / "tvm/resnet20_cifar")
    fills: dict[str, list[str]] = {}
    shown = """() => [...document.querySelectorAll("svg text, svg rect, svg path")]
      .map((each) => getComputedStyle(each).fill + getComputedStyle(each).stroke).sort()"""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        for theme in (scheme, "auto"):
            measured(page, run.figure("graph", theme=theme))
            fills[f"{scheme} {theme}"] = page.evaluate(shown)
        assert fills[f"{scheme} {scheme}"] == fills[f"{scheme} auto"]
    assert fills["light auto"] != fills["dark auto"]
