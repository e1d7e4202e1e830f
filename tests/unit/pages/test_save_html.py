"""What is written of a run as one page: the same each time, within its budget, names as text."""

import base64
import gzip
import hashlib
import html
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import tvmdbg_widgets as tvmdbg
from tests.graph_json import chain
from tvmdbg_widgets.answers.answers import _ANSWERS
from tvmdbg_widgets.engine import STATIC
from tvmdbg_widgets.run import DebugRun
from tvmdbg_widgets.widgets.view import View

pytestmark = pytest.mark.usefixtures("bundles_or_skip")

SAMPLE = tvmdbg.samples.resnet20_cifar
POLICY = re.compile(
    r"default-src 'none'; script-src( 'sha256-[A-Za-z0-9+/]{43}=')+; "
    r"style-src( 'sha256-[A-Za-z0-9+/]{43}='){2}; img-src data: blob:; worker-src blob:"
)
ATTACK = "</script></title></pre><img src=x onerror=window.ran=1>\u2028\udc80\"'&amp;]]>"


@pytest.fixture(scope="module")
def bundles_or_skip() -> None:
    if not (STATIC / "page_graph.js").is_file():
        pytest.skip("the front ends were not built: `make bundle`")


@pytest.fixture(scope="module")
def run() -> DebugRun:
    """One run for all tests that leave its session alone."""
    return tvmdbg.open(SAMPLE)


class Document(HTMLParser):
    """Elements of a page in order, and the text inside those that hold text alone."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "img"):
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self._open[-1] if self._open else "", []).append(data)

    def every(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.elements if name == tag]

    @property
    def policy(self) -> str:
        (found,) = [
            each["content"]
            for each in self.every("meta")
            if each.get("http-equiv") == "Content-Security-Policy"
        ]
        return str(found)

    @property
    def settings(self) -> dict[str, Any]:
        kinds = [each.get("id") for each in self.every("script")]
        return json.loads(self.texts["script"][kinds.index("tvmdbg-settings")])


def sha(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def literal_from(script: str, start: int) -> str:
    """Return what a literal of a script says, whose first character is at ``start``."""
    quote = script[start - 1]
    literal = re.compile(rf"(?:\\.|[^\\{quote}])*", re.DOTALL).match(script, start)
    assert literal
    return re.sub(r"\\(.)", lambda found: {"n": "\n"}.get(found[1], found[1]), literal[0])


def views(run: DebugRun) -> list[View]:
    return [
        run.debugger(),
        tvmdbg.GraphView(run),
        tvmdbg.TensorInspector(run),
        tvmdbg.Flamechart(run),
        tvmdbg.MemoryView(run),
    ]


def test_the_policy_names_the_scripts_and_the_style_of_the_file(
    run: DebugRun, tmp_path: Path
) -> None:
    for view in views(run):
        path = view.save_html(tmp_path / "page.html")
        page = Document(path.read_text("utf-8"))
        assert POLICY.fullmatch(page.policy)
        live = [
            text
            for attrs, text in zip(page.every("script"), page.texts["script"], strict=True)
            if "type" not in attrs
        ]
        kinds = [each.get("id") for each in page.every("script")]
        style, script = (
            gzip.decompress(base64.b64decode(page.texts["script"][kinds.index(name)])).decode()
            for name in ("tvmdbg-style", "tvmdbg-script")
        )
        scripts = [*live, script]
        layout = (STATIC / "layout.js").read_text("utf-8").strip()
        if layout[:200] in script:  # started by that script where no worker may be
            assert literal_from(script, script.index(layout[:200])) == layout
            scripts.append(layout)
        assert re.findall("'sha256[^']+'", page.policy) == [
            *map(sha, scripts),
            sha(*page.texts["style"]),
            sha(style),
        ]
        assert len(live) == 1
        assert not [attrs for _, attrs in page.elements if "style" in attrs]
        assert not [name for _, attrs in page.elements for name in attrs if name.startswith("on")]


def test_page_links_to_nothing_outside_itself(run: DebugRun, tmp_path: Path) -> None:
    page = Document(run.save_html(tmp_path / "page.html").read_text("utf-8"))
    addresses = [
        (tag, str(attrs[name])[:40])
        for tag, attrs in page.elements
        for name in ("src", "href", "srcset", "action", "data")
        if name in attrs
    ]
    assert addresses == [("a", "#tvmdbg-about"), ("img", addresses[1][1])]
    assert addresses[1][1].startswith("data:image/svg+xml")


def test_saving_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    one, two, three = (tmp_path / f"{name}.html" for name in "abc")
    run = tvmdbg.open(SAMPLE)
    assert run.save_html(one) == one
    run.save_html(str(two))
    tvmdbg.open(SAMPLE).save_html(three)
    assert one.read_bytes() == two.read_bytes() == three.read_bytes()


@pytest.mark.parametrize(
    ("budget", "share"),
    [
        (490_000, "statistics"),
        (500_000, "pictures"),
        (700_000, "pictures"),
        (500_000, "tensors"),
        (900_000, "tensors"),
    ],
)
def test_a_page_keeps_its_budget(run: DebugRun, tmp_path: Path, budget: int, share: str) -> None:
    path = run.save_html(tmp_path / "page.html", budget=budget, share=share)
    assert path.stat().st_size <= budget
    if share != "statistics" and budget < 900_000:
        assert path.stat().st_size > 0.8 * budget


def test_page_over_budget_warns(run: DebugRun, tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="more than the budget of 1,000"):
        path = run.save_html(tmp_path / "page.html", budget=1000)
    assert Document(path.read_text("utf-8")).settings["view"] == "debugger"


def test_page_of_view_without_tensors_stores_none(run: DebugRun, tmp_path: Path) -> None:
    few = tvmdbg.GraphView(run).save_html(tmp_path / "graph.html", share="tensors")
    many = tvmdbg.TensorInspector(run).save_html(tmp_path / "tensor.html", share="tensors")
    assert few.stat().st_size < 235_000
    assert "this view shows none" in few.read_text("utf-8")
    assert many.stat().st_size > few.stat().st_size + 400_000


def hostile_run() -> DebugRun:
    return tvmdbg.open(chain([ATTACK + " in", ATTACK], ATTACK, shapes=[2]))


@pytest.mark.parametrize("embedded", [False, True])
def test_no_name_becomes_markup(tmp_path: Path, embedded: bool) -> None:
    run = hostile_run()
    view = tvmdbg.GraphView(run, search=ATTACK.replace("\udc80", ""))
    if embedded:
        outer = Document(view.embed(title=ATTACK).html)
        assert [tag for tag, _ in outer.elements] == ["div", "iframe"]
        (frame,) = outer.every("iframe")
        text = str(frame["srcdoc"])
    else:
        text = view.save_html(tmp_path / "page.html", title=ATTACK).read_text("utf-8")
    page = Document(text)
    assert len(page.every("img")) == 1
    assert [each for each in page.every("script") if "src" in each] == []
    kinds = [each.get("id") for each in page.every("script")]
    assert kinds == ["tvmdbg-settings", None, "tvmdbg-style", "tvmdbg-script", "tvmdbg-data"]
    assert page.texts["title"][0].startswith("</script></title>")
    assert "\u2028" not in page.texts["title"][0]
    assert page.settings["models"]["view"]["search"].startswith("</script>")


def test_page_has_custom_title_and_theme(run: DebugRun, tmp_path: Path) -> None:
    path = run.save_html(tmp_path / "p.htm", title="Why <slow>?", theme="dark")
    page = Document(path.read_text("utf-8"))
    assert page.texts["title"] == ["Why <slow>?"]
    assert page.every("html") == [{"lang": "en", "data-theme": "dark"}]
    assert {"name": "generator", "content": f"tvmdbg-widgets {tvmdbg.__version__}"} in page.every(
        "meta"
    )


def test_page_starts_at_requested_node_without_changing_session(tmp_path: Path) -> None:
    run = tvmdbg.open(SAMPLE)
    run.session.select(3)
    name = run.graph.nodes[62].name
    for node in (62, name):
        path = run.save_html(tmp_path / "page.html", node=node, view="tensor")
        settings = Document(path.read_text("utf-8")).settings
        assert settings["start"] == "tensor"
        assert settings["models"]["session"]["selected"] == [62]
        assert settings["models"]["session"]["entry"] == [62, 0]
    assert run.session.selected == [3]


def test_a_view_is_saved_in_its_present_state(run: DebugRun, tmp_path: Path) -> None:
    session = tvmdbg.Session(run)
    session.select(12)
    session.time_range = (0.0, 1000.0)
    view = tvmdbg.GraphView(run, session, focus="tvmgen_default_fused_nn_softmax", hops=2)
    view.direction = "right"
    settings = Document(view.save_html(tmp_path / "page.html").read_text("utf-8")).settings
    assert settings["view"] == "graph"
    state = settings["models"]["view"]
    assert (state["focus"], state["hops"], state["direction"]) == (
        "tvmgen_default_fused_nn_softmax",
        2,
        "right",
    )
    assert settings["models"]["session"]["selected"] == [12]
    assert settings["models"]["session"]["time_range"] == [0.0, 1000.0]
    assert {name for name in state if name.startswith("_")} == {"_color_columns"}


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"node": 99_999}, IndexError),
        ({"node": "no such node"}, KeyError),
        ({"share": "everything"}, ValueError),
        ({"theme": "blue"}, ValueError),
        ({"view": "tensors"}, ValueError),
        ({"budget": 0}, ValueError),
    ],
)
def test_invalid_options_are_refused_and_write_nothing(
    run: DebugRun, tmp_path: Path, options: dict[str, Any], problem: type[Exception]
) -> None:
    with pytest.raises(problem):
        run.save_html(tmp_path / "page.html", **options)
    assert list(tmp_path.iterdir()) == []


ANSWERS_OF_A_PAGE = (
    *("summary", "highlights", "graph", "timeline", "change", "tensors", "findings", "health"),
    *("critical", "roofline", "counters", "flows"),
)


@pytest.mark.parametrize("kinds", [("timeline",), ("graph", "tensors"), ANSWERS_OF_A_PAGE])
def test_failing_part_is_left_out_of_the_page(
    kinds: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> object:
        raise ZeroDivisionError("never mind")

    for kind in kinds:
        monkeypatch.setitem(_ANSWERS, kind, fails)
    path = tvmdbg.open(SAMPLE).save_html(tmp_path / "run.html", share="statistics")
    text = path.read_text("utf-8")
    for kind in kinds:
        assert f"{kind}: ZeroDivisionError" in html.unescape(text)
    packed = re.search(r'id="tvmdbg-data"[^>]*>([^<]+)<', text)
    data = gzip.decompress(base64.b64decode(packed[1]))
    head = json.loads(data[16 : 16 + int.from_bytes(data[8:12], "little")])
    replies = {
        json.loads(question)["kind"]: result for question, (result, *_) in head["replies"].items()
    }
    for kind in {"health", "facts", "graph", "timeline", "tensors", "variant"} - {*kinds}:
        assert replies[kind]
    missing = replies["summary"]["missing"]
    for kind in {*kinds} & {"graph", "timeline", "tensors"}:
        assert "ZeroDivisionError" in missing[kind]


def test_page_is_written_when_figure_fails(
    run: DebugRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> object:
        raise ZeroDivisionError("never mind")

    view = tvmdbg.Flamechart(run)
    monkeypatch.setattr(type(view), "redacted_figure", fails)
    text = view.save_html(tmp_path / "run.html").read_text("utf-8")
    assert "This view could not be drawn: ZeroDivisionError" in html.unescape(text)


def test_page_of_single_view_refuses_another_start_view(run: DebugRun, tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match="a page of a GraphView has no view 'tensor'; known: 'graph'"
    ):
        tvmdbg.GraphView(run).save_html(tmp_path / "page.html", view="tensor")


def test_paths_are_checked_before_anything_is_computed(run: DebugRun, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="must end in"):
        run.save_html(tmp_path / "page.txt")
    with pytest.raises(FileNotFoundError, match="no folder"):
        run.save_html(tmp_path / "none" / "page.html")


def test_a_frame_is_sandboxed_and_carries_the_page(run: DebugRun) -> None:
    for height in ("500", 0, 1.5, True):
        with pytest.raises((TypeError, ValueError), match="expected"):
            tvmdbg.GraphView(run).embed(height)  # type: ignore[arg-type]
    embedded = tvmdbg.GraphView(run).embed(500)
    (frame,) = Document(embedded.html).every("iframe")
    assert frame["sandbox"] == "allow-scripts"
    assert (frame["width"], frame["height"]) == ("100%", "500")
    page = Document(str(frame["srcdoc"]))
    assert POLICY.fullmatch(page.policy)
    assert page.settings["embedded"] is True
    assert html.unescape(embedded.html.split('srcdoc="')[1].rsplit('"', 1)[0]) == frame["srcdoc"]
    bundle = embedded._repr_mimebundle_()
    assert bundle["text/html"] == embedded.html
    assert bundle["image/svg+xml"].startswith("<svg")
    assert "conv2d" in bundle["text/plain"]


def test_frames_are_small(run: DebugRun) -> None:
    most = {"GraphView": 264_000, "Flamechart": 206_000, "MemoryView": 105_000}
    for view in views(run):
        size = len(view.embed().html.encode())
        assert size < most.get(type(view).__name__, 580_000), type(view).__name__
