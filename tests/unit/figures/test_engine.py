"""Figures drawn by TypeScript without a DOM: what goes in, what comes out, what is stopped."""

import copy
import itertools
import json
import re
import subprocess
import sys
import threading
import time
import types
import xml.etree.ElementTree as ET
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import quickjs
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.figures.figure_checks import width
from tvmdbg_widgets import engine as host
from tvmdbg_widgets.answers.tensor import Reply
from tvmdbg_widgets.figures import engine, texts
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.figures.theme import SCHEMES
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.text import one_line

ROOT = Path(__file__).parents[3]
SVG = "{http://www.w3.org/2000/svg}"
LOOKS = [(11, False, 60.0), (12, True, 100.0), (13, False, 7.5), (10, True, 0.0)]
HOSTILE = "</text><script>alert(1)</script>\"'&\x00\u202e\ud800 x"
TEXTS = [
    *("", "conv2d + add + relu", "一个很长的中文名字，还有标点。"),
    "tvmgen_default_fused_nn_conv2d_add_relu_51.very/long-name:with.marks",
    *("e\u0301a\u0308 क\u093f \u05d0\u05d1\u05d2 12", "か\u3099 \u302a 한국어 ﷽"),
    *("👩‍👩‍👧 🇩🇪🇫🇷🇯 👍🏽 x\u200b\ufe0f", "\ufeff\u00a0 tabs\tand\nlines \u3000"),
    *("   spaces   everywhere   ", HOSTILE),
]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The engine with the sample figure of js/tests/engine in place of the views' own."""
    path = tmp_path_factory.mktemp("engine") / "engine.js"
    esbuild = ROOT / "node_modules/.bin/esbuild"
    if not esbuild.exists():
        pytest.skip("no node_modules: `make bundle` sets them up")
    options = ["--bundle", "--format=iife", "--target=es2022", "--supported:async-await=false"]

    def built(entry: str, name: str) -> str:
        command = [esbuild, ROOT / entry, *options, f"--global-name={name}"]
        return subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout

    # As js/build.mjs does.
    promises = built("js/src/engine/promises.ts", "promises") + "var { Promise } = promises;"
    sample = built("js/tests/engine/sample.ts", "tvmdbgEngine")
    whole = f"var tvmdbgEngine = (() => {{ {promises}\n{sample} return tvmdbgEngine; }})();"
    path.write_text(whole, "utf-8")
    return path


@pytest.fixture(autouse=True)
def _sample(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "BUNDLE", bundle)
    monkeypatch.setattr(host, "_threads", threading.local())


def drawn(
    texts: list[str] = TEXTS, theme: str = "light", columns: Any = None, **more: Any
) -> Figure:
    def answer(_question: object) -> Reply:
        headers, buffer = host.pack(columns or {})
        return Reply({"columns": headers}, (buffer,))

    title = more.pop("title", "a title")
    options = {"texts": texts, "looks": LOOKS} | more
    return engine.draw("sample", title, options, answer, width=400, theme=theme)


def parsed(svg: str) -> ET.Element:
    return ET.fromstring(svg)  # noqa: S314 (our own)


def engine_of(code: str, path: Path) -> None:
    """Let the engine run other code."""
    path.write_text(f"var tvmdbgEngine = {{ draw(view, request) {{ {code} }} }};", "utf-8")
    host.BUNDLE = path


def test_figure_has_svg_text_and_description() -> None:
    figure = drawn(["one", "two"])
    root = parsed(figure.svg)
    assert root.get("viewBox") == "0 0 400 72"
    assert [each.text for each in root.iter(f"{SVG}text")] == ["one", "two"]
    assert [root.findtext(f"{SVG}{name}") for name in ("title", "desc")] == ["a title", "one; two"]
    assert (figure.text, list(figure.description)[:2]) == ("one\ntwo", ["view", "title"])
    assert repr(figure).startswith("<Figure: sample of 'a title'")


def test_columns_arrive_as_the_live_view_has_them() -> None:
    columns = {
        "u1": np.array([0, 255], np.uint8),
        "u2": np.array([1, 65535], np.uint16),
        "u4": np.array([1, 2**32 - 1], np.uint32),
        "i4": np.array([-(2**31), 2**31 - 1], np.int32),
        "f4": np.array([0.5, -1e30], np.float32),
        "f8": np.array([0.1, 5e-324, 1.7e308]),
        "bool": np.array([True, False]),
        "none": np.array([], np.float64),
        "swapped": np.array([1.5, -2.5], ">f8"),
        "apart": np.arange(10, dtype=np.int32)[::3],
        "names": StringColumn.from_strings(["a", HOSTILE, "", "a", "日本"]),
    }
    found = drawn([], columns=columns).description["columns"]
    expected = {name: list(column) for name, column in columns.items()}
    # What UTF-8 cannot hold is lost on the way to a view.
    expected["names"][1] = HOSTILE.replace("\ud800", "?")
    assert found == expected | {"f4": [0.5, float(np.float32(-1e30))], "bool": [1, 0]}
    nan = drawn([], columns={"f8": np.array([np.nan, np.inf])})
    assert nan.description["columns"] == {"f8": [None, None]}


def test_value_invalid_in_json_is_rejected() -> None:
    with pytest.raises(ValueError, match="JSON"):
        drawn([], number=float("nan"))


ALPHABET = st.one_of(
    st.sampled_from("ab _/.:-iWm…·×\u0301\u200d\u00ad\u093f日本語か\u3099👍🏽🇩🇪\ufe0f\u05d0 "),
    st.characters(exclude_categories=["Cn"]),
)


@given(st.lists(st.text(ALPHABET, max_size=40), max_size=20), st.floats(0, 300))
def test_any_text_is_measured_cut_and_wrapped(found: list[str], room: float) -> None:
    found += TEXTS
    looks = [[11, False, room], [12, True, room]]
    facts = drawn(found, looks=looks).description
    for at, text in enumerate(found):
        assert "".join(facts["clusters"][at]) == text
        assert facts["measured"][at] == pytest.approx(width(text, 11))
        for row, (size, bold) in enumerate([(11, False), (12, True)]):
            assert facts["widths"][at][row] == pytest.approx(width(text, size, bold))
            whole, fitting = texts.clean(text), facts["fits"][at][row]
            wrapped = facts["wraps"][at][row]
            assert all(width(each, size, bold) <= room + 1e-6 for each in [fitting, *wrapped])
            assert fitting == whole or whole.startswith(fitting.removesuffix("…"))
            assert len(wrapped) <= 3
            begun, told = "".join(wrapped).removesuffix("…"), re.sub(r"\s", "", whole)
            assert told.startswith(re.sub(r"\s", "", begun))


def test_hostile_names_do_not_become_markup() -> None:
    figure = drawn([HOSTILE, HOSTILE], theme="auto", title=HOSTILE)
    root = parsed(figure.svg)
    assert {each.tag.removeprefix(SVG) for each in root.iter()} <= {
        *("svg", "title", "desc", "style", "g", "path", "rect", "text")
    }
    cleaned = texts.clean(HOSTILE)
    assert [each.text for each in root.iter(f"{SVG}text")] == [cleaned, cleaned]
    assert root.findtext(f"{SVG}title") == cleaned
    assert figure.text == f"{one_line(HOSTILE)}\n{one_line(HOSTILE)}"
    assert "<script" not in figure.html


def test_unknown_view_names_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "BUNDLE", ROOT / "tvmdbg_widgets/static/engine.js")
    fails: Any = None
    for name in ("nothing", "constructor", "__proto__", "');throw 1;//"):
        with pytest.raises(RuntimeError, match="could not be drawn") as caught:
            engine.draw(name, "", {}, fails, width=400)
        assert repr(name) in str(caught.value)


def test_light_and_dark_use_colors_of_shared_schemes() -> None:
    for name in ("light", "dark"):
        svg, theme = drawn(theme=name).svg, SCHEMES[name]
        for color in (theme.background, theme.line, theme.accent, theme.error, theme.muted):
            assert (f'"{color}"' in svg) == (color != theme.accent), color
    assert SCHEMES["dark"].accent in drawn(columns={"x": np.array([1.0])}, theme="dark").svg
    with pytest.raises(ValueError, match="no theme 'blue'"):
        engine.draw_view("sample", "", {}, lambda _: Reply(None), text=str, width=400, theme="blue")


def test_auto_theme_is_light_figure_with_dark_css_rules() -> None:
    columns = {"x": np.array([1.0, 2.0])}
    light, dark, auto = (
        parsed(drawn(theme=name, columns=columns).svg) for name in ("light", "dark", "auto")
    )
    sheet = auto.find(f"{SVG}style")
    assert sheet.text is not None
    auto.remove(sheet)
    pattern = r"\.tvmdbg-figure (?:\.(\w+)|\[(\w+=\"#\w{6}\")\])\{(\w+):(#\w{6})\}"
    rules = re.findall(pattern, sheet.text)
    assert re.sub(pattern, "", sheet.text) == "@media (prefers-color-scheme:dark){}"
    as_dark = copy.deepcopy(auto)
    for each in auto.iterfind(".//*[@class]"):
        each.attrib.pop("class")
    assert ET.tostring(auto) == ET.tostring(light)
    for each in as_dark.iter():
        classes = each.attrib.pop("class", "").split() if each is not as_dark else []
        held = {f'{name}="{value}"' for name, value in each.attrib.items()}
        each.attrib.update(
            (name, value)
            for cls, attribute, name, value in rules
            if cls in classes or attribute in held
        )
    assert ET.tostring(as_dark) == ET.tostring(dark)


@pytest.mark.filterwarnings("ignore:no installed font")
def test_png_of_auto_theme_figure_is_light() -> None:
    pytest.importorskip("resvg_py")
    columns = {"x": np.array([10.0])}
    said = ["plain", "日本 in a group", "日本 bold"]
    pictures = [drawn(said, name, columns=columns).png() for name in ("light", "auto", "dark")]
    assert pictures[0] == pictures[1] != pictures[2]


def test_shapes_that_differ_between_light_and_dark_are_refused() -> None:
    with pytest.raises(RuntimeError, match="more than its colors"):
        drawn([], "auto", uneven=True)


def test_drawing_is_deterministic_across_threads() -> None:
    columns = {"x": np.arange(200.0)}
    first = drawn(columns=columns, theme="auto")
    assert drawn(columns=columns, theme="auto") == first
    barrier = threading.Barrier(8)

    def draw_several(_: int) -> list[Figure]:
        barrier.wait()
        return [drawn(columns=columns, theme="auto") for _ in range(2)]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(draw_several, range(8)))
    assert all(each == first for each in itertools.chain(*found))


def test_endless_loop_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "_MOST_SECONDS", 0.2)
    engine_of("for (;;);", tmp_path / "engine.js")
    begin = time.thread_time()
    with pytest.raises(RuntimeError, match=r"it took longer than 0\.2 s"):
        drawn([])
    assert time.thread_time() - begin < 2


def test_time_of_other_threads_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[float] = []

    class Context:
        """Stops the code at 10, 20 and 40 s, of which this thread had next to nothing."""

        def set_time_limit(self, limit: float) -> None:
            limits.append(limit)

        def eval(self, code: str) -> Callable[[str, str], str]:
            assert code == "tvmdbgEngine.draw"
            return self.draw

        def draw(self, view: str, request: str) -> str:
            if len(limits) < 4:
                raise quickjs.JSException("InternalError: interrupted\n  at f")
            return json.dumps({"done": {"svg": request, "text": view, "description": {}}})

    drawn()
    context = Context()
    monkeypatch.setattr(host._threads.engine, "_context", context)
    assert drawn([]).text == "sample"
    assert limits == [10, 20, 40, 80]


@pytest.mark.parametrize(
    "code",
    [
        "const all = []; for (;;) all.push(new Float64Array(1e6).fill(1));",
        "let text = 'x'; for (;;) text += text;",
        "return 'x'.repeat(2 ** 29) + view;",
        "new ArrayBuffer(2 ** 40);",
    ],
)
def test_unbounded_memory_use_is_refused(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "_MOST_BYTES", 32 << 20)
    engine_of(code, tmp_path / "engine.js")
    with pytest.raises(RuntimeError, match="'sample' could not be drawn"):
        drawn([])


def test_figure_without_room_is_drawn_in_new_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "_MOST_BYTES", 32 << 20)
    held = "(globalThis.held ??= []).push(new ArrayBuffer(20 * 2 ** 20));"
    answer = "return JSON.stringify({ done: { svg: request, text: view, description: {} } });"
    engine_of(held + answer, tmp_path / "engine.js")
    assert drawn([]).text == "sample"
    full = host._threads.engine
    assert drawn([]).text == "sample"
    assert host._threads.engine is not full


@pytest.mark.parametrize("least", [0, 1 << 20])
def test_garbage_is_collected_after_large_answers(
    least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn()
    collected: list[int] = []
    monkeypatch.setattr(host, "_LARGE", least)
    monkeypatch.setattr(host._threads.engine, "collect", lambda: collected.append(1))
    drawn(columns={"u1": np.arange(9, dtype=np.uint8)})
    assert len(collected) == (least == 0)


def test_endless_recursion_is_refused_in_thread(tmp_path: Path) -> None:
    engine_of("const deep = () => deep() + 1; return deep();", tmp_path / "engine.js")
    with ThreadPoolExecutor(1) as pool, pytest.raises(RuntimeError, match="stack size"):
        pool.submit(drawn, []).result()


def test_after_a_failure_the_next_figure_is_drawn(bundle: Path, tmp_path: Path) -> None:
    first = drawn()
    host._threads.engine = host._QuickJs(
        "var tvmdbgEngine = { draw() { throw new TypeError('no') } }"
    )
    with pytest.raises(RuntimeError, match="'sample' could not be drawn: TypeError: no"):
        drawn()
    assert drawn() == first


def test_engine_code_has_no_system_access(tmp_path: Path) -> None:
    names = "fetch,XMLHttpRequest,require,process,std,os,scriptArgs,print,WebAssembly,setTimeout"
    code = f"""const names = "{names}".split(",");
      const found = names.filter((name) => name in globalThis);
      return JSON.stringify({{ done: {{ svg: "", text: found.join(), description: {{}} }} }});"""
    engine_of(code, tmp_path / "engine.js")
    assert drawn([]).text == ""


def test_missing_quickjs_error_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "quickjs", None)
    with pytest.raises(host.EngineMissingError, match="pip install quickjs-ng") as caught:
        drawn()
    figure = engine.text_only("sample", "<title>", f"one\n{HOSTILE}", str(caught.value), width=500)
    root = parsed(figure.svg)
    said = " ".join(each.text or "" for each in root.iter(f"{SVG}text"))
    for part in ("<title>", "one", "pip install quickjs-ng"):
        assert part in said
    assert figure.text.startswith("one\n")
    assert figure.description["title"] == "<title>"


def test_missing_bundle_error_shows_build_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "BUNDLE", tmp_path / "engine.js")
    with pytest.raises(host.EngineMissingError, match="make bundle"):
        drawn()


def test_outdated_engine_raises_engine_missing_error(tmp_path: Path) -> None:
    host.BUNDLE = tmp_path / "engine.js"
    host.BUNDLE.write_text("class { of the future }", "utf-8")
    with pytest.raises(host.EngineMissingError, match="pip install --upgrade quickjs-ng"):
        drawn()


def test_browser_draws_with_its_own_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = drawn()
    monkeypatch.setattr(sys, "platform", "emscripten")
    monkeypatch.setitem(sys.modules, "quickjs", None)
    monkeypatch.setattr(host, "_threads", threading.local())
    browser = quickjs.Context()
    ran = []

    def run_js(code: str) -> types.SimpleNamespace:
        ran.append(code)
        browser.set("code", code)
        browser.eval("var proxy = (0, eval)(code)")
        names = ("draw", "goOn", "tell", "fail")
        return types.SimpleNamespace(**{name: browser.eval(f"proxy.{name}") for name in names})

    for name, content in (
        ("code", {"run_js": run_js}),
        ("ffi", {"JsException": quickjs.JSException}),
    ):
        module = types.ModuleType(f"pyodide.{name}")
        module.__dict__.update(content)
        monkeypatch.setitem(sys.modules, f"pyodide.{name}", module)
    monkeypatch.setitem(sys.modules, "pyodide", types.ModuleType("pyodide"))

    assert (drawn(), drawn()) == (expected, expected)
    assert len(ran) == 1
    with pytest.raises(RuntimeError, match="more than its colors"):
        drawn([], "auto", uneven=True)


@pytest.mark.parametrize(
    ("failing", "why"),
    [
        (RuntimeError("the figure could not be drawn: InternalError: out of memory"), "out of mem"),
        (host.EngineTimeError("it took longer than 10 s"), "longer than 10 s"),
        (host.EngineMissingError("no engine: pip install quickjs-ng"), "pip install"),
        (MemoryError(), "MemoryError"),
        (ValueError("two\nlines"), "two"),
    ],
)
def test_failed_picture_shows_text_and_reason(
    monkeypatch: pytest.MonkeyPatch, failing: Exception, why: str
) -> None:
    def fails(*_arguments: object, **_more: object) -> str:
        raise failing

    monkeypatch.setattr(engine, "converse", fails)
    look: dict[str, Any] = {"width": 400, "theme": "auto"}
    figure = engine.draw_view(
        "sample", "<title>", {}, lambda _: Reply(None), text=lambda: "one\ntwo", **look
    )
    *text, said = figure.text.splitlines()
    assert text == ["one", "two"]
    assert why in said
    assert why in figure.description["missing"]
    assert figure.description["title"] == "<title>"
    parsed(figure.svg)
