"""A saved page keeps its word: offline, locked down, framed, without workers or scripts."""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Frame, Locator, Page, expect

import tvmdbg_widgets as tvmdbg
from tests.mostly_slow import mostly_slow
from tests.ui.checklists import AUDIT, looks
from tests.ui.pointer import box_of, drag
from tests.ui.saved import READY, hostile_run, long_run, select, selected, settle
from tests.ui.tensors import expect_channels
from tests.ui.waits import frames, inspected, until

NOTHING_KEPT = """() => {
  window.violations = [];
  addEventListener("securitypolicyviolation", event => violations.push(event.effectiveDirective));
  for (const name of ["getItem", "setItem"]) {
    Storage.prototype[name] = () => { throw new Error("asked Web Storage"); };
  }
}"""
NAME = "tvmgen_default_fused_nn_conv2d_add_nn_relu_51"


def _short(value: object) -> str:
    """The shortest text of a number that reads back to it."""
    return str(value).removesuffix(".0")


@pytest.fixture(scope="module")
def first_script() -> str:
    return f"({NOTHING_KEPT})()"


@pytest.fixture(scope="module")
def saved(bundles: Path, run: tvmdbg.DebugRun, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the sample."""
    return run.save_html(tmp_path_factory.mktemp("page") / "resnet20.html")


def show(page: Page, path: Path, place: str = "") -> None:
    """Open a file with the network off, and wait until its views are there."""
    page.context.set_offline(True)
    page.goto(path.as_uri() + place)
    page.wait_for_function(READY)


def policy(path: Path) -> str:
    found = re.search(r'Security-Policy" content="([^"]+)"', path.read_text("utf-8"))
    assert found
    return found[1]


@contextmanager
def served(pages: dict[str, tuple[str, dict[str, str]]]) -> Iterator[str]:
    """Serve texts by path, each with headers of its own; yields the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            text, headers = pages.get(self.path, ("", {}))
            self.send_response(200 if text else 204)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


def three_views(page: Page | Frame) -> None:
    for view in ("graph", "tensor", "timeline"):
        expect(page.locator(f"[data-view={view}] canvas").first).to_be_visible()
    assert page.evaluate("document.querySelectorAll('.tvmdbg-message-error').length") == 0


@pytest.mark.usefixtures("own_page")
def test_a_file_works_with_the_network_off(page: Page, saved: Path) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.split(":")[0]))
    show(page, saved)
    three_views(page)
    assert set(asked) <= {"file", "data", "blob"}
    assert asked.count("file") == 1
    assert page.evaluate("violations") == []
    assert page.title() == "resnet20_cifar"
    expect(page.locator("#tvmdbg-static")).to_be_hidden()
    expect(page.locator("#tvmdbg-status")).to_be_hidden()
    expect(page.locator("[class*=undefined]")).to_have_count(0)


def test_content_security_policy_works_as_server_header(
    page: Page, saved: Path, errors: list[str]
) -> None:
    header = {"Content-Security-Policy": policy(saved)}
    with served({"/": (saved.read_text("utf-8"), header)}) as address:
        page.goto(address)
        page.wait_for_function(READY)
        three_views(page)
        select(page, 12)
        settle(page)
        assert page.evaluate("violations") == []
        assert errors == []
        # It is in force: what is not ours does not run, load or dress.
        page.evaluate(
            """address => {
              const script = document.createElement("script");
              script.textContent = "window.ran = 1";
              const image = new Image();
              image.src = address + "x.png";
              const style = document.createElement("style");
              style.textContent = "body { color: red }";
              document.body.append(script, image, style);
            }""",
            address,
        )
        page.wait_for_function("() => violations.length >= 3")
        assert page.evaluate("window.ran") is None
        errors.clear()


@pytest.mark.parametrize("by", mostly_slow(["file", "server"], "file"))
def test_page_works_in_a_sandboxed_frame(page: Page, saved: Path, tmp_path: Path, by: str) -> None:
    frame = '<!doctype html><iframe sandbox="allow-scripts" width="1200" height="1000" src="{}">'
    page.set_viewport_size({"width": 1240, "height": 1040})
    if by == "file":
        outer = tmp_path / "outer.html"
        outer.write_text(frame.format(saved.as_uri()), "utf-8")
        page.goto(outer.as_uri())
        inside = framed(page)
        three_views(inside)
        return
    inner = (saved.read_text("utf-8"), {"Content-Security-Policy": policy(saved)})
    with served({"/": (frame.format("/page.html"), {}), "/page.html": inner}) as address:
        page.goto(address)
        inside = framed(page)
        three_views(inside)
        select(inside, 62)
        expect(inside.locator("[data-view=tensor]")).to_contain_text("#62")
        assert inside.evaluate("self.origin") == "null"


def framed(page: Page, at: int = 0) -> Frame:
    """The document of one frame, its views there."""
    page.wait_for_function("at => document.querySelectorAll('iframe').length > at", arg=at)
    inside = page.locator("iframe").nth(at).element_handle().content_frame()
    inside.wait_for_function(READY)
    return inside


@pytest.mark.usefixtures("own_page")
def test_large_graph_is_laid_out_without_workers(
    page: Page, tmp_path: Path, errors: list[str]
) -> None:
    flat = tvmdbg.GraphView(long_run(600), grouped=False)  # one block closed is laid out at once
    path = flat.save_html(tmp_path / "long.html")
    text, workers = path.read_text("utf-8"), []
    page.on("worker", lambda worker: workers.append(worker.url))
    without = policy(path).replace("worker-src blob:", "worker-src 'none'")
    pages = {"/": (text, {}), "/none": (text, {"Content-Security-Policy": without})}
    with served(pages) as address:
        page.goto(address)
        page.wait_for_function(READY)
        assert len(workers) == 1
        drawn = inspect(page, "graph")
        page.goto(f"{address}none")
        page.wait_for_function(READY)
        assert len(workers) == 1
        assert inspect(page, "graph") == drawn
        assert len(drawn) > 3
    assert all("worker" in each for each in errors)
    errors.clear()


def inspect(page: Page | Frame, view: str) -> list[Any]:
    return page.evaluate(
        """view => {
          const detail = {};
          document.querySelector(`[data-view=${view}] .tvmdbg, .tvmdbg.tvmdbg-${view}`)
            .dispatchEvent(new CustomEvent("tvmdbg:inspect", { detail }));
          return detail.marks;
        }""",
        view,
    )


def test_page_without_scripts_shows_figure_and_text(
    browser: Browser, saved: Path, tmp_path: Path
) -> None:
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.set_viewport_size({"width": 900, "height": 1000})
    page.goto(saved.as_uri())
    figure = page.locator("#tvmdbg-static img")
    expect(figure).to_be_visible()
    box = box_of(figure)
    assert box["width"] > 700
    assert box["height"] > 1000
    picture = figure.screenshot(path=tmp_path / "figure.png")
    assert len(picture) > 50_000  # drawn: an empty box of this size takes a tenth
    words = page.locator("#tvmdbg-static pre").inner_text()
    for part in ("#62 conv2d + add + relu", "2.571 ms", "all finite"):
        assert part in words
    assert "resnet20_cifar" in page.locator("h1").inner_text()
    told = page.locator("#tvmdbg-about").inner_text()
    assert "parameters=True" in told
    assert "output_tensors.params" in told
    expect(page.locator("#tvmdbg-status")).to_be_hidden()
    expect(page.locator("#tvmdbg-views canvas")).to_have_count(0)
    context.close()


def test_print_shows_the_figure(page: Page, saved: Path) -> None:
    show(page, saved)
    expect(page.locator("#tvmdbg-static")).to_be_hidden()
    page.emulate_media(media="print")
    expect(page.locator("#tvmdbg-static img")).to_be_visible()
    expect(page.locator("#tvmdbg-views")).to_be_hidden()


@pytest.mark.parametrize(
    ("place", "state"),  # all that a place may say: js/tests/page/place.test.ts
    [
        (
            f"#node={NAME}&time=0,2500000",
            {"selected": [62], "entry": [62, 0], "time_range": [0, 2500000]},
        ),
        ("#slice=12,0", {"selected": [12], "slice": [12, 0]}),
    ],
)
def test_link_restores_selection_and_time_range(
    page: Page, saved: Path, place: str, state: dict[str, Any]
) -> None:
    show(page, saved, place)
    for name, value in state.items():
        assert selected(page, name) == value
    expect(page.locator("#tvmdbg-status")).to_be_hidden()


def test_link_to_a_node_opens_its_block(page: Page, tmp_path: Path) -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)
    show(page, run.save_html(tmp_path / "page.html"), "#node=57")
    graph = page.locator(".tvmdbg-graph")
    expect(graph.locator(".tvmdbg-mirror")).not_to_contain_text("inside the closed group")
    frames(page)
    assert 57 in {mark["id"] for mark in inspected(graph)["marks"] if mark["group"] < 0}


def test_link_focuses_the_named_view(page: Page, saved: Path) -> None:
    show(page, saved, "#node=12&view=tensor")
    assert page.evaluate(
        "document.querySelector('[data-view=tensor]').contains(document.activeElement)"
    )
    expect(page.locator("[data-view=tensor]")).to_contain_text("#12")


@pytest.mark.parametrize(("place", "nodes"), [("#node=9999", []), ("#view=x&node=62", [62])])
def test_invalid_link_is_reported_and_ignored(
    page: Page, saved: Path, place: str, nodes: list[int]
) -> None:
    show(page, saved, place)
    expect(page.locator("#tvmdbg-status")).to_contain_text("was ignored")
    expect(page.locator("#tvmdbg-status")).to_be_visible()
    assert selected(page) == nodes


def test_url_hash_and_selection_are_synchronized(page: Page, saved: Path) -> None:
    show(page, saved)
    assert page.evaluate("location.hash") == ""
    select(page, 12)
    page.wait_for_function("() => location.hash === '#node=12'")
    entries = page.evaluate("history.length")
    select(page, 15)
    page.wait_for_function("() => location.hash === '#node=15'")
    assert page.evaluate("history.length") == entries
    page.evaluate("location.hash = '#node=62'")
    page.wait_for_function("() => tvmdbgPage.models.session.get('selected')[0] === 62")
    expect(page.locator("[data-view=tensor]")).to_contain_text("#62")
    page.get_by_role("button", name="Copy a link to the selection", include_hidden=True).click()
    status = page.locator("#tvmdbg-status")
    expect(status).to_contain_text(f"{saved.name}#node=62")
    assert "file:" not in status.inner_text()


def test_page_opens_at_requested_node_and_view(
    page: Page, run: tvmdbg.DebugRun, tmp_path: Path
) -> None:
    show(page, run.save_html(tmp_path / "page.html", node=NAME, view="timeline"))
    assert selected(page) == [62]
    assert page.evaluate(
        "document.querySelector('[data-view=timeline]').contains(document.activeElement)"
    )


def test_selection_in_one_view_is_shown_in_all(page: Page, saved: Path) -> None:
    page.set_viewport_size({"width": 1280, "height": 1100})
    show(page, saved)
    slices = inspect(page, "timeline")
    target = max(slices, key=lambda each: each["width"])
    stage = box_of(page.locator("[data-view=timeline] .tvmdbg-timeline-place canvas").last)
    page.mouse.click(
        stage["x"] + target["x"] + target["width"] / 2,
        stage["y"] + target["y"] + target["height"] / 2,
    )
    page.wait_for_function("() => tvmdbgPage.models.session.get('selected').length === 1")
    (node,) = selected(page)
    expect(page.locator("[data-view=tensor]")).to_contain_text(f"#{node}")
    expect(page.locator("[data-view=graph] .tvmdbg-mirror")).to_contain_text(str(node))
    page.locator("[data-view=graph] > .tvmdbg").focus()
    page.keyboard.press("g")
    until(page, "found.marks.every(({ group }) => group < 0)", "[data-view=graph] > .tvmdbg")
    page.keyboard.press("ArrowUp")
    page.wait_for_function(
        "node => tvmdbgPage.models.session.get('selected')[0] !== node", arg=node
    )
    (producer,) = selected(page)
    expect(page.locator("[data-view=tensor]")).to_contain_text(f"#{producer}")


def inspector(page: Page, path: Path) -> Locator:
    """The inspector of a page with room for its controls, at an output with 16 channels."""
    page.set_viewport_size({"width": 2000, "height": 2000})
    show(page, path, "#node=12&view=tensor")
    return page.locator("[data-view=tensor] > .tvmdbg-tensor")


def drawn(page: Page, part: str) -> Any:
    """What one part of the inspector shows."""
    settle(page)
    return page.locator("[data-view=tensor] > .tvmdbg-tensor").evaluate(
        """(root, part) => {
          const detail = {};
          root.dispatchEvent(new CustomEvent("tvmdbg:inspect", { detail }));
          return JSON.parse(JSON.stringify(detail[part]));
        }""",
        part,
    )


def middle(stage: Locator, share: float = 0.5) -> tuple[float, float]:
    box = box_of(stage)
    return box["x"] + share * box["width"], box["y"] + box["height"] / 2


def test_a_page_of_pictures_has_channels_profiles_and_colors(
    page: Page, run: tvmdbg.DebugRun, saved: Path
) -> None:
    values = run.tensors[12, 0].numpy()
    view = inspector(page, saved)
    view.get_by_role("button", name="Channels: one heatmap per index of an axis (2)").click()
    expect_channels(view, 16)
    assert [each["known"] for each in drawn(page, "channels")["marks"]] == [True] * 16
    view.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(view.get_by_label("Index along C (number)")).to_have_value("3")
    page.keyboard.press("3")
    along = view.locator(".tvmdbg-tensor-along")
    expect(view.locator(".tvmdbg-tensor-profile")).to_have_attribute("data-ready", "true")
    for axis, length in ((1, 16), (2, 32), (3, 32), (0, 1)):
        along.focus()
        page.keyboard.press("Home")
        expect(along).to_have_attribute("aria-valuemax", str(length - 1))
        words = along.get_attribute("aria-valuetext") or ""
        told = re.findall(r"(?:min|mean|max) ≈? ?([\d.]+)", words)
        own = values.take(0, axis).astype(float)
        assert [float(each) for each in told] == pytest.approx(
            [own.min(), own.mean(), own.max()], rel=1e-3
        )
        page.keyboard.press("t")
    page.mouse.click(*middle(along))
    view.get_by_role("button", name="Heatmap of two axes (1)").click()
    bars, legend = (view.locator(f".tvmdbg-tensor-{each}") for each in ("histogram", "legend"))
    expect(legend).to_contain_text("≈ 5.74")
    drag(page, middle(bars, 0.3), middle(bars, 0.5), middle(bars, 0.6))
    expect(legend).not_to_contain_text("≈ 5.74")
    bars.press("Escape")
    expect(legend).to_contain_text("≈ 5.74")
    for key in ("ArrowRight", "ArrowRight", "Shift+ArrowRight", "h", "h"):
        bars.press(key)
    expect(view.get_by_label("Histogram scale (h)")).to_have_value("log")
    expect(legend).not_to_contain_text("≈ 5.74")
    layouts = view.get_by_label("Layout (a)")
    layouts.select_option(label="as stored (4 axes)")
    expect(view.get_by_label("Axis for rows")).to_contain_text("1 (16)")
    expect(view.locator(".tvmdbg-tensor-stage")).to_be_visible()
    layouts.select_option(index=0)
    strip = view.locator(".tvmdbg-health-stage")
    page.mouse.click(*middle(strip))
    expect(view).not_to_have_attribute("data-entry", "12:0")
    entry = view.get_attribute("data-entry")
    strip.press("ArrowRight")
    expect(view).not_to_have_attribute("data-entry", entry or "")
    assert view.locator(".tvmdbg-error:visible").count() == 0


def test_page_of_pictures_reports_missing_values(page: Page, saved: Path) -> None:
    view = inspector(page, saved)
    view.focus()
    page.keyboard.press("v")
    why = "not in this page: exact values"
    expect(view.locator(".tvmdbg-tensor-values .tvmdbg-error:visible")).to_contain_text(why)
    view.get_by_label("Values as (f)").select_option("hex")
    expect(view.locator(".tvmdbg-tensor-values .tvmdbg-error:visible")).to_contain_text(why)
    for form in ("npy", "csv"):
        view.get_by_role("button", name="Save this view (w)").click()
        view.get_by_role("button", name=form).click()
        expect(view.locator(".tvmdbg-tensor-save-status")).to_contain_text(f"Not saved: {why}")
        page.keyboard.press("Escape")
    view.focus()
    page.keyboard.press("w")
    with page.expect_download() as picture:
        view.get_by_role("button", name="png").click()
    assert picture.value.suggested_filename.endswith(".png")
    down, trouble = view.get_by_label("Axis for rows"), view.locator(".tvmdbg-tensor-trouble")
    down.select_option("1")
    expect(trouble).to_contain_text("not in this page: this plane")
    down.select_option("2")
    expect(trouble).to_be_hidden()
    # A parameter has statistics and no picture.
    select(page, 1)
    expect(trouble).to_contain_text("values of parameters are not in this page")
    expect(view.locator(".tvmdbg-tensor-statistics")).to_contain_text("mean")
    assert not re.search(r"reading|asking", view.inner_text())


def test_a_page_with_values_shows_and_saves_them(
    page: Page, run: tvmdbg.DebugRun, tmp_path: Path
) -> None:
    values = run.tensors[12, 0].numpy()
    path = run.save_html(tmp_path / "whole.html", node=12, share="tensors")
    view = inspector(page, path)
    view.focus()
    for key in ("3", "2", "1", "v", "ArrowRight"):
        page.keyboard.press(key)
    plane = values[0, int(view.get_by_label("Index along C (number)").input_value())]
    expect(view.locator(".tvmdbg-tensor-readout")).to_contain_text(f"= {_short(plane[0, 1])}")
    cell = view.locator(".tvmdbg-values-grid [role=gridcell]").first
    code = int(plane.view(np.uint32)[0, 0])
    texts = {
        "hex": f"0x{code:08X}",
        "bits": f"{code:032b}",
        "dequantized": _short(float(plane[0, 0])),
        "number": _short(plane[0, 0]),
    }
    for form, text in texts.items():
        view.get_by_label("Values as (f)").select_option(form)
        expect(cell).to_have_text(text)
    view.get_by_role("button", name="Save this view (w)").click()
    with page.expect_download() as download:
        view.get_by_role("button", name="npy").click()
    assert np.array_equal(np.load(download.value.path()), plane)
    view.focus()
    page.keyboard.press("v")
    median = view.locator("tr", has=page.get_by_role("rowheader", name="p99")).locator("td")
    expect(median).to_have_text(f"{np.percentile(values.astype(float), 99):.6g}")
    assert view.locator(".tvmdbg-error:visible").count() == 0


def test_hostile_names_do_not_execute(page: Page, tmp_path: Path, browser: Browser) -> None:
    path = hostile_run().save_html(tmp_path / "page.html")
    show(page, path, "#node=1")
    page.locator("[data-view=graph] > .tvmdbg").focus()
    for key in ("d", "s", "?", "Escape", "]"):
        page.keyboard.press(key)
    assert page.evaluate("window.ran") is None
    assert page.locator("img:not(#tvmdbg-static img), script[src]").count() == 0
    expect(page.locator("[data-view=graph]")).to_contain_text("onerror")
    context = browser.new_context(java_script_enabled=False)
    quiet = context.new_page()
    quiet.goto(path.as_uri())
    assert quiet.locator("img").count() == 1
    expect(quiet.locator("#tvmdbg-static pre")).to_contain_text("onerror")
    context.close()


def damaged(text: str, how: str) -> str:
    data = text.index('id="tvmdbg-data"')
    return {
        "half the data": text[: data + (len(text) - data) // 2],
        "no data": text[: text.rindex("<script", 0, data)],
        "half the script": text[: text.index('id="tvmdbg-script"') + 5000],
        "one character": text[: data + 9000] + "AAAA" + text[data + 9004 :],
    }[how]


@pytest.mark.parametrize("how", ["half the data", "no data", "half the script", "one character"])
def test_damaged_file_is_reported_and_keeps_its_figure(
    page: Page, saved: Path, tmp_path: Path, how: str
) -> None:
    path = tmp_path / "damaged.html"
    path.write_text(damaged(saved.read_text("utf-8"), how), "utf-8")
    page.goto(path.as_uri())
    expect(page.locator("#tvmdbg-status")).to_be_visible()
    expect(page.locator("#tvmdbg-status")).to_contain_text("damaged or is truncated")
    expect(page.locator("#tvmdbg-static img")).to_be_visible()
    expect(page.locator("#tvmdbg-static pre")).to_contain_text("conv2d")


@pytest.mark.parametrize("system", mostly_slow(["light", "dark"], "dark"))
def test_theme_follows_system_until_toggled(page: Page, saved: Path, system: str) -> None:
    page.emulate_media(color_scheme=system)
    show(page, saved)
    other = "light" if system == "dark" else "dark"
    graph = page.locator("[data-view=graph] > .tvmdbg")

    def dark() -> bool:
        return bool(graph.evaluate("node => node.classList.contains('tvmdbg-dark')"))

    assert dark() == (system == "dark")
    page.get_by_role("button", name=f"{other.capitalize()} theme").click()
    settle(page)
    assert dark() == (other == "dark")
    scheme = page.evaluate("getComputedStyle(document.documentElement).colorScheme")
    assert scheme == other


def test_saved_theme_overrides_system_theme(
    page: Page, run: tvmdbg.DebugRun, tmp_path: Path
) -> None:
    page.emulate_media(color_scheme="light")
    show(page, run.save_html(tmp_path / "page.html", theme="dark"))
    expect(page.locator("[data-view=graph] > .tvmdbg-dark")).to_be_visible()


@pytest.mark.parametrize(("width", "theme"), looks((480, 700, 900, 1600)))
def test_page_is_legible_without_clipping(page: Page, saved: Path, width: int, theme: str) -> None:
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    page.set_viewport_size({"width": width, "height": 1000})
    show(page, saved)
    # All of it in the viewport: what lies below the fold is not painted, and cannot be read here.
    height = page.evaluate("document.documentElement.scrollHeight")
    page.set_viewport_size({"width": width, "height": height + 20})
    settle(page)
    found = page.locator("body").evaluate(AUDIT)
    assert len(found["texts"]) > 50
    assert [text for text in found["texts"] if text["size"] < 11] == []
    assert [text for text in found["texts"] if not text.get("enough", True)] == []
    assert [(text["text"], text["cut"]) for text in found["texts"] if text["cut"]] == []
    assert found["overlaps"] == []
    assert found["nameless"] == []
    assert found["untabbable"] == []
    assert found["silent"] == 0
    assert found["wide"] == []
    for canvas in found["canvases"]:
        assert canvas["clashes"] == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


VIEWS = ["GraphView", "TensorInspector", "Flamechart", "MemoryView"]


@pytest.mark.parametrize("name", mostly_slow(VIEWS, "GraphView", "TensorInspector"))
def test_single_view_is_saved(page: Page, run: tvmdbg.DebugRun, tmp_path: Path, name: str) -> None:
    view = getattr(tvmdbg, name)(run, tvmdbg.Session(run))
    show(page, view.save_html(tmp_path / "view.html", node=62))
    expect(page.locator(".tvmdbg canvas").first).to_be_visible()
    told = page.locator("#tvmdbg-views > .tvmdbg .tvmdbg-mirror").filter(has_text="62")
    expect(told.first).to_be_attached()
    assert page.locator(".tvmdbg-message-error").count() == 0


@pytest.fixture
def embedding(run: tvmdbg.DebugRun, bundles: Path, tmp_path: Path) -> Path:
    """A page of somebody's own with two views in it."""
    frames = [
        view(run, tvmdbg.Session(run)).embed(node=node).html
        for view, node in ((tvmdbg.GraphView, 12), (tvmdbg.Flamechart, 62))
    ]
    path = tmp_path / "outer.html"
    texts = "<p><a href='#'>{}</a></p>"
    path.write_text(
        f"<!doctype html><meta charset='utf-8'><title>a page</title>{texts.format('before')}"
        f"{frames[0]}{texts.format('between')}{frames[1]}{texts.format('after')}"
        "<div style='height: 3000px'></div>",
        "utf-8",
    )
    return path


def test_two_embedded_views_are_independent(page: Page, embedding: Path) -> None:
    page.context.set_offline(True)
    page.set_viewport_size({"width": 1000, "height": 1000})
    page.goto(embedding.as_uri())
    graph, timeline = framed(page, 0), framed(page, 1)
    assert (selected(graph), selected(timeline)) == ([12], [62])
    select(graph, 15)
    settle(page)
    assert (selected(graph), selected(timeline)) == ([15], [62])
    for frame in (graph, timeline):
        assert frame.evaluate("document.documentElement.scrollHeight <= innerHeight")
        box = box_of(frame.locator("#tvmdbg-views"))
        root = box_of(frame.locator("#tvmdbg-views > .tvmdbg"))
        assert root["height"] == pytest.approx(box["height"], abs=3)


def test_embedded_frame_does_not_trap_wheel_or_tab(page: Page, embedding: Path) -> None:
    page.set_viewport_size({"width": 1000, "height": 700})
    page.goto(embedding.as_uri())
    graph = framed(page, 0)
    framed(page, 1)
    box = box_of(page.locator("iframe").first)
    page.mouse.move(box["x"] + 200, box["y"] + 250)
    drawn = graph_marks(graph)
    page.mouse.wheel(0, 150)
    page.wait_for_function("() => scrollY > 0")
    assert graph_marks(graph) == drawn
    page.evaluate("scrollTo(0, 0)")
    frames(page)
    graph.locator("#tvmdbg-views > .tvmdbg").focus()
    page.mouse.wheel(0, -200)
    graph.wait_for_function(
        """before => {
          const detail = {};
          document.querySelector("#tvmdbg-views > .tvmdbg")
            .dispatchEvent(new CustomEvent("tvmdbg:inspect", { detail }));
          return JSON.stringify(detail.marks) !== before;
        }""",
        arg=json.dumps(drawn, separators=(",", ":")),
    )
    assert page.evaluate("scrollY") == 0
    page.evaluate("document.querySelector('a').focus()")
    # A frame may take a key only after the next one was pressed: the page keeps all stops.
    page.evaluate(
        """window.stops = [];
        addEventListener("focusin", ({ target }) => stops.push(target.textContent.trim()))"""
    )
    # Under load keys are lost while focus goes from one process to the next: more than one round.
    for _ in range(600):
        page.keyboard.press("Tab")
        if page.evaluate("stops.includes('between') && stops.includes('after')"):
            return
    pytest.fail("no Tab leaves the frames")


def graph_marks(frame: Frame) -> list[Any]:
    return frame.evaluate(
        """() => {
          const detail = {};
          document.querySelector("#tvmdbg-views > .tvmdbg")
            .dispatchEvent(new CustomEvent("tvmdbg:inspect", { detail }));
          return detail.marks;
        }"""
    )


def test_a_converted_notebook_stays_live(
    page: Page, run: tvmdbg.DebugRun, tmp_path: Path, errors: list[str]
) -> None:
    import nbformat
    from nbconvert import HTMLExporter

    data = tvmdbg.GraphView(run).embed(node=62)._repr_mimebundle_()
    output = nbformat.v4.new_output("display_data", data=data)
    cell = nbformat.v4.new_code_cell("view.embed()", outputs=[output])
    notebook = nbformat.v4.new_notebook(cells=[cell])
    text, _ = HTMLExporter().from_notebook_node(notebook)
    path = tmp_path / "notebook.html"
    path.write_text(text, "utf-8")
    page.context.set_offline(True)
    page.goto(path.as_uri(), wait_until="domcontentloaded")
    inside = framed(page)
    assert selected(inside) == [62]
    expect(inside.locator(".tvmdbg canvas").first).to_be_visible()
    # The converter's own template asks for its scripts; nothing of ours does.
    assert [each for each in errors if "asked the outside" in each and "cdn" not in each] == []
    errors.clear()


def test_tour_steps_work_on_saved_page(page: Page, tmp_path: Path) -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    run.session.notes = {"62": "the slowest"}
    steps = [{"text": f"Look at {node}.", "nodes": [node]} for node in (3, 62, 12)]
    path = run.tour(steps).save_html(tmp_path / "tour.html")
    show(page, path, "#step=1")
    assert (selected(page, "tour_step"), selected(page)) == (1, [62])
    expect(page.locator(".tvmdbg-tour-prose")).to_contain_text("Look at 62.")
    page.get_by_role("button", name="Next step (→ or n)").click()
    page.wait_for_function("() => location.hash.includes('step=2')")
    assert selected(page) == [12]
    assert selected(page, "notes") == {"62": "the slowest"}
    page.evaluate("location.hash = 'step=7'")
    expect(page.locator("#tvmdbg-status")).to_contain_text("no step 7")


@pytest.mark.parametrize("width", mostly_slow([420, 700, 1000], 420))
def test_frame_is_high_enough_for_its_views(
    page: Page, run: tvmdbg.DebugRun, tmp_path: Path, width: int
) -> None:
    path = tmp_path / "outer.html"
    frame = tvmdbg.Debugger(run, tvmdbg.Session(run)).embed().html
    body = f"<body style='margin: 0; width: {width}px'>{frame}"
    path.write_text(f"<!doctype html><meta charset='utf-8'>{body}", "utf-8")
    page.set_viewport_size({"width": width + 100, "height": 1400})
    page.goto(path.as_uri())
    inside = framed(page)
    settle(inside)
    heights = "place => [place.scrollHeight, place.clientHeight]"
    needs, has = inside.locator("#tvmdbg-views").evaluate(heights)
    assert needs <= has + 20
    for view in ("graph", "tensor", "timeline"):
        box = box_of(inside.locator(f"[data-view={view}]"))
        assert box["height"] > 200
