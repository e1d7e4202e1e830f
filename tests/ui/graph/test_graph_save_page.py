"""Pictures of the graph saved from the page: by mouse and by key, of the view and of the whole."""

import base64
import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from playwright.sync_api import Locator, Page, expect

import tvmdbg_widgets as tvmdbg
from benchmarks.graphs import network
from tests.ui.host import serve
from tests.ui.pointer import tool
from tests.ui.waits import frames, inspected, rest, until

SVG = "{http://www.w3.org/2000/svg}"
HARMLESS = {"svg", "title", "defs", "pattern", "path", "rect", "g", "clipPath", "text"}
#: How far pixels of two pictures are apart: share of those that differ plainly.
APART = """async ([one, two]) => {
  const pixels = async (url) => {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, image.width, image.height);
  };
  const [a, b] = await Promise.all([pixels(one), pixels(two)]);
  if (a.width !== b.width || a.height !== b.height) return [a.width, a.height, b.width, b.height];
  let differ = 0;
  for (let i = 0; i < a.data.length; i += 4) {
    const far = Math.max(...[0, 1, 2].map((k) => Math.abs(a.data[i + k] - b.data[i + k])));
    if (far > 96) differ += 1;
  }
  return differ / (a.data.length / 4);
}"""


@pytest.fixture
def graph(page: Page, resnet: str, graph: Callable[..., Locator]) -> Callable[..., Locator]:
    """Open the view, at rest."""

    def open_view(query: str = "", address: str = resnet) -> Locator:
        root = graph(query, 1200, address)
        rest(page)
        return root

    return open_view


def saved(page: Page, name: str, folder: Path) -> Path:
    """Save by a click in the menu, which is open."""
    with page.expect_download() as started:
        page.get_by_role("button", name=name, exact=True).click()
    path = folder / started.value.suggested_filename
    started.value.save_as(path)
    return path


def sound(path: Path) -> ET.Element:
    root = ET.fromstring(path.read_text("utf-8"))  # noqa: S314 (our own)
    assert {each.tag.removeprefix(SVG) for each in root.iter()} <= HARMLESS
    for each in root.iter():
        assert not any(name.startswith("on") or name == "href" for name in each.attrib)
        assert all("url(" not in value or "url(#tvmdbg-" in value for value in each.attrib.values())
    return root


def texts(root: ET.Element) -> list[str]:
    return [each.text or "" for each in root.iter(f"{SVG}text")]


def data_url(path: Path) -> str:
    kind = {".svg": "image/svg+xml", ".png": "image/png"}[path.suffix]
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"


@pytest.mark.parametrize(
    "query",
    [
        "",
        'graph.color_by="time"&graph.grouped=false',
        'graph.color_by="dtype"&graph.open_groups=[]',
        'theme=dark&graph.direction="right"&graph.color_by="storage"',
    ],
)
def test_svg_matches_the_drawn_graph(
    query: str, page: Page, graph: Callable[..., Locator], tmp_path: Path
) -> None:
    root = graph(query)
    for key in ("f", "s"):
        page.keyboard.press(key)
        rest(page)
    page.keyboard.press("i")
    svg, png = (saved(page, f"{kind} of the view", tmp_path) for kind in ("SVG", "PNG"))
    until(page, "found.labels.length > 5")
    drawn = [label["text"] for label in inspected(root)["labels"]]
    kept = texts(sound(svg))
    assert len(drawn) > 5
    for label in set(drawn):
        assert kept.count(label) >= drawn.count(label)
    apart = page.evaluate(APART, [data_url(svg), data_url(png)])
    assert not isinstance(apart, list), apart
    assert apart < 0.004


def test_whole_graph_is_exported_by_key_at_readable_scale(
    page: Page, graph: Callable[..., Locator], tmp_path: Path
) -> None:
    root = graph("graph.grouped=false&graph.wrapped=false")
    for _ in range(4):
        page.keyboard.press("+")
    page.keyboard.press("i")
    expect(page.get_by_role("dialog", name="export a picture")).to_be_visible()
    page.keyboard.press("ArrowDown")
    with page.expect_download() as started:
        page.keyboard.press("Enter")
    path = tmp_path / started.value.suggested_filename
    started.value.save_as(path)
    assert path.name == "resnet20_cifar_graph.svg"
    found = sound(path)
    kept = texts(found)
    for node in (0, 3, 62, 71):
        assert any(re.match(rf"#{node}\b", text) for text in kept), node
    fused = ("nn.conv2d", "add", "nn.relu")
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    titles = [f"#{each.id} conv2d + add + relu" for each in run.graph.nodes if each.parts == fused]
    assert len(titles) == 10
    assert {text for text in kept if text.endswith(" conv2d + add + relu")} == set(titles)
    assert float(found.attrib["height"]) > 1_000
    sizes = [float(each.attrib["font-size"]) for each in found.iterfind(".//*[@font-size]")]
    assert min(sizes) >= 11
    status = page.get_by_role("dialog").get_by_role("status")
    expect(status).to_contain_text("resnet20_cifar_graph.svg, ")
    page.keyboard.press("Escape")
    expect(root).to_be_focused()


def test_png_of_whole_graph_uses_device_pixel_ratio(
    page: Page, graph: Callable[..., Locator], tmp_path: Path
) -> None:
    graph("graph.grouped=false&graph.wrapped=false")
    tool(page.locator(".tvmdbg-graph"), "export a picture of the graph (i)").click()
    svg = sound(saved(page, "SVG of the whole graph", tmp_path))
    png = saved(page, "PNG of the whole graph", tmp_path).read_bytes()
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    size = [int.from_bytes(png[at : at + 4], "big") for at in (16, 20)]
    ratio = page.evaluate("devicePixelRatio")
    drawn = [float(svg.attrib[name]) * ratio for name in ("width", "height")]
    assert size == pytest.approx(drawn, abs=1)


def test_selection_is_exported_and_view_stays_unchanged(
    page: Page, graph: Callable[..., Locator], tmp_path: Path
) -> None:
    root = graph('graph.search="softmax"')
    page.evaluate("tvmdbg.models.session.set('selected', [71])")
    frames(page)
    before = inspected(root)
    page.keyboard.press("i")
    svg = saved(page, "SVG of the view", tmp_path).read_text("utf-8")
    saved(page, "SVG of the whole graph", tmp_path)
    style = root.evaluate("root => getComputedStyle(root).getPropertyValue('--tvmdbg-accent')")
    assert f'stroke="{style.strip()}"' in svg
    assert inspected(root) == before


def test_a_large_graph_is_saved(page: Page, graph: Callable[..., Locator], tmp_path: Path) -> None:
    with serve(tvmdbg.open(network(10_000).encode())) as address:
        graph("graph.open_groups=[]", address)
        page.keyboard.press("i")
        for name in ("SVG of the view", "PNG of the whole graph", "SVG of the whole graph"):
            path = saved(page, name, tmp_path)
        assert len(texts(sound(path))) > 50


def test_hostile_title_and_names_are_escaped_in_export(
    page: Page, graph: Callable[..., Locator], tmp_path: Path
) -> None:
    from tests.ui.every_view.test_hostile_page import hostile_run

    run = hostile_run()

    with serve(run) as address:
        graph("", address)
        page.keyboard.press("i")
        path = saved(page, "SVG of the whole graph", tmp_path)
    assert re.fullmatch(r"[\w.-]+\.svg", path.name)
    assert any("#1" in text for text in texts(sound(path)))
