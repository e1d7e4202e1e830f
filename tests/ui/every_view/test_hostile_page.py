"""Names from a file never run: not in a box, a list, a table, a tooltip, a title or an error."""

import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from traitlets import TraitError

import tvmdbg_widgets as tvmdbg
from tests.executorch_cases import case_dir
from tests.formats.capture_files import ACK, PSH, SYN, Tcp, frame, pcap
from tests.formats.rpc.rpc_cases import FUNCTION
from tests.graph_json import graph_json, null, operator
from tests.make import tuning_cases
from tests.make.tuning_story import story
from tests.ui.host import serve, visit
from tests.ui.pointer import box_of
from tests.ui.tuning_page import TuningPage
from tests.ui.waits import frames, painted
from tvmdbg_widgets.formats.rpc.grammar import grammar
from tvmdbg_widgets.formats.rpc.packet_bytes import encode_packet, handshake
from tvmdbg_widgets.recorders.etdump_writer import RecordedBlock, RecordedEvent, etdump_bytes

ATTACK = '"><img src=x onerror="window.ran=1"><script>window.ran=1</script>${window.ran=1}'
#: Also what ends a script, what an address runs, what turns text round, NUL, and a name of 10 kB.
HOSTILE = f"{ATTACK}</script></title>javascript:window.ran=1\u202e\0'&quot;\u2028" + "n" * 10_000
#: JSON may hold half a character.
BROKEN = f"\udc80{HOSTILE}"
CLICK_ALL = """selector => [...document.querySelectorAll(selector)]
  .filter(each => !each.disabled && each.checkVisibility() && !each.download)
  .slice(0, 300).forEach(each => each.isConnected && each.click())"""
CLICKED = "button, summary, a, [role=row], [role=tab], [role=option], [role=gridcell], tr, select"


def hostile_run() -> tvmdbg.DebugRun:
    """A graph whose every text is an attack, and the trace of it."""
    nodes = [null(ATTACK + " in"), operator(ATTACK, ATTACK, [0], **{ATTACK: ATTACK})]
    graph = graph_json(nodes, shapes=[2], dtypes=ATTACK)
    events = [
        {"ts": float(i), "tid": 1, "pid": 1, "name": ATTACK + " in" * (i < 2), "ph": "BE"[i % 2]}
        for i in range(4)
    ]
    trace = {"displayTimeUnit": "ns", "traceEvents": events}
    return tvmdbg.open(graph, json.dumps(trace).encode())


def test_hostile_names_do_not_execute_in_debugger(page: Page) -> None:
    with serve(hostile_run()) as address:
        visit(page, f"{address}?views=debugger&width=1400")
        painted(page)
        page.evaluate("tvmdbg.models.session.set('selected', [1])")
        page.evaluate("text => tvmdbg.models.session.set('notes', { 1: text })", ATTACK)
        for view in ("findings", "graph"):
            page.locator(f".tvmdbg-{view}").focus()
            for key in ("d", "d", "s", "?", "Escape", "]", "Enter", "ArrowRight", "y"):
                page.keyboard.press(key)
        page.keyboard.press("Escape")
        page.keyboard.press("/")
        page.keyboard.type("script")
        for button in page.get_by_role("button").all():
            if button.is_visible() and button.is_enabled():
                button.click()
        page.mouse.move(300, 300)
        assert page.evaluate("window.ran") is None
        assert page.locator("img, script[src=x]").count() == 0
        assert page.get_by_text("onerror").count() > 0


def executorch_run() -> tvmdbg.DebugRun:
    """An ETRecord and an ETDump whose every name is an attack."""
    with zipfile.ZipFile(case_dir("06a_demo_generated_ids") / "etrecord.bin") as record:
        members = {name: record.read(name) for name in record.namelist()}
    for name in [each for each, data in members.items() if b"graph_module" in data]:
        members[name] = hostile_program(members[name])
    maps = json.loads(members["delegate_map"])
    for calls in maps.values():
        for call in calls.values():
            call["name"] = HOSTILE
            call["delegate_map"][HOSTILE] = call["delegate_map"].pop(
                next(iter(call["delegate_map"]))
            )
    members["delegate_map"] = json.dumps(maps).encode()
    members[f"{ATTACK}/forward"] = json.dumps({"graph_module": BROKEN}).encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    calls = [RecordedEvent(-1, -1, "Method::execute", start=1_000, end=99_000)]
    names = ("OPERATOR_CALL", HOSTILE, "DELEGATE_CALL", HOSTILE, None)
    for at, name in enumerate(names):
        delegate = HOSTILE if name is None else None
        begin = 2_000 * at + 2_000
        more = {"delegate_debug_id": delegate, "metadata": HOSTILE.encode() if delegate else None}
        calls.insert(0, RecordedEvent(0, at // 2, name, start=begin, end=begin + 900, **more))
    dump = etdump_bytes([RecordedBlock(HOSTILE, events=calls)])
    return tvmdbg.open(packed.getvalue(), dump)


def hostile_program(data: bytes) -> bytes:
    """A program whose nodes, modules, files and lines have such names."""
    program = json.loads(data)
    nodes = program["graph_module"]["graph"]["nodes"]
    names = {each["name"]: f"{each['name']}{HOSTILE}" for each in nodes}
    for each in nodes:
        for key in each["metadata"].keys() - {"debug_handle"}:
            each["metadata"][key] = f'  File "{HOSTILE}", line 3, in forward\\n    {HOSTILE}'
    text = json.dumps(program)
    text = re.sub(r'"(\w+)"', lambda found: json.dumps(names.get(found[1], found[1])), text)
    return text.encode()


def tuning_log() -> tvmdbg.TuningLog:
    """Records of Ansor whose keys, targets and pragmas are attacks, and a tuner's output."""
    lines = []
    for at, line in enumerate(story("starved", rounds=1)):
        record = json.loads(line)
        record["i"][0][0] = json.dumps([HOSTILE + str(at % 2), 64])
        record["i"][0][1] += f" -model={HOSTILE}"
        record["i"][1][1] = [*record["i"][1][1], ["PR", 2, 0, ATTACK], ["CHR", 1, ATTACK, [2]]]
        lines.append(json.dumps(record) + "\n")
    lines.append(json.dumps({"i": BROKEN}) + "\n" + HOSTILE + "\n")
    plain = re.sub("[\0\u2028]", "", HOSTILE)[:2_000]
    output = tuning_cases.OUTPUT.replace(b'File "x.py"', plain.encode())
    output = output.replace(b"vm_mod_fused_nn_dense_add", plain[:60].encode())
    return tvmdbg.open_tuning("".join(lines).encode(), output)


def remote_run() -> tvmdbg.RpcLog:
    """A client that asks for functions of such names, and a server that fails with them."""
    own = grammar("v0.8")
    asked = [handshake(f"client:{ATTACK}")]
    answered = [handshake(f"server:{ATTACK}")]
    for at in range(3):
        asked.append(encode_packet(own, "GetGlobalFunc", [("str", f"{HOSTILE}{at}")]))
        answered.append(encode_packet(own, "Return", [("handle", FUNCTION + at)]))
        asked.append(encode_packet(own, "CallFunc", [("str", HOSTILE)], function=FUNCTION + at))
        answered.append(encode_packet(own, "Exception", [("str", HOSTILE)]))
    packets = [each for pair in zip(asked, answered, strict=True) for each in pair]
    return tvmdbg.open_rpc(captured(packets))


def captured(packets: list[bytes]) -> bytes:
    """The packets of both sides in turn, a segment each."""
    ends, at, frames = (("10.0.0.1", 40000), ("10.0.0.2", 9090)), [1, 1], []
    for turn, packet in enumerate(packets):
        side = turn % 2
        own, to = ends[side], ends[1 - side]
        if turn < 2:
            frames.append(frame(Tcp(b"", 0, SYN | ACK * side, own, to).ip()))
        frames.append(frame(Tcp(packet, at[side], PSH | ACK, own, to).ip()))
        at[side] += len(packet)
    return pcap(frames)


def click_everywhere(page: Page) -> None:
    """Click whatever can be clicked, and every place of the window; type keys; hover."""
    page.evaluate(CLICK_ALL, CLICKED)
    frames(page)
    page.keyboard.press("Escape")
    size = page.viewport_size or {"width": 1000, "height": 800}
    for x in range(60, size["width"], 180):
        for y in range(40, size["height"], 110):
            page.mouse.click(x, y)
    page.mouse.dblclick(size["width"] / 2, size["height"] / 3)
    for key in ("/", "?", "Escape", "d", "s", "]", "Enter", "ArrowRight", "ArrowDown", "y", "4"):
        page.keyboard.press(key)


def watched(page: Page) -> list[str]:
    """Return what will be told of dialogs and windows that open; none may."""
    opened: list[str] = []
    page.on("dialog", lambda dialog: (opened.append(dialog.message), dialog.dismiss()))
    page.context.on("page", lambda other: opened.append(other.url))
    return opened


def assert_nothing_ran(page: Page, opened: list[str]) -> None:
    assert page.evaluate("window.ran") is None
    assert page.locator("img[src=x], script[src=x]").count() == 0
    assert page.locator('a[href^="javascript:" i]').count() == 0
    assert opened == []


RUNS = {"ExecuTorch": executorch_run, "remote": lambda: remote_run().run()}


@pytest.mark.parametrize("kind", ["ExecuTorch", pytest.param("remote", marks=pytest.mark.slow)])
def test_hostile_names_of_a_run_do_not_execute(page: Page, kind: str) -> None:
    opened = watched(page)
    with serve(RUNS[kind]()) as address:
        visit(page, f"{address}?views=debugger&width=1200")
        painted(page)
        click_everywhere(page)
        assert_nothing_ran(page, opened)


@pytest.mark.parametrize("run", [hostile_run, executorch_run])
def test_hostile_names_do_not_execute_in_what_a_small_debugger_opens(
    page: Page, run: Callable[[], tvmdbg.DebugRun]
) -> None:
    """Findings of one line, the tooltips above the page, the tensor's popover, the palette."""
    opened = watched(page)
    page.set_viewport_size({"width": 864, "height": 596})
    with serve(run()) as address:
        visit(page, f"{address}?views=debugger&width=848&debugger.height=580")
        painted(page)
        page.locator(".tvmdbg-findings").focus()
        page.keyboard.press("Enter")
        for name in ("graph", "timeline"):
            canvas = box_of(page.locator(f".tvmdbg-{name} .tvmdbg-stage:visible").first)
            for at in range(1, 12):
                x = canvas["x"] + canvas["width"] * at / 12
                page.mouse.move(x, canvas["y"] + canvas["height"] * (at % 4 + 1) / 6)
                frames(page)
        for button in page.get_by_role("button", name="controls").all():
            button.click()
            page.keyboard.press("Escape")
        page.locator(".tvmdbg-graph").focus()
        page.keyboard.press("Control+k")
        for text in ("img", "script", "onerror"):
            page.keyboard.insert_text(text)
            frames(page)
            page.keyboard.press("Control+a")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        frames(page)
        assert_nothing_ran(page, opened)
        assert page.get_by_text("onerror").count() > 0


@pytest.mark.usefixtures("own_page")  # a known document has no functions of Python's
def test_hostile_names_of_a_log_do_not_execute(page: Page) -> None:
    opened = watched(page)
    TuningPage(page, tuning_log())
    expect(page.get_by_text("onerror").first).to_be_attached()
    click_everywhere(page)
    assert_nothing_ran(page, opened)


SAVED: dict[str, Any] = {
    "ExecuTorch": lambda path: executorch_run().save_html(path),
    "remote": lambda path: remote_run().run().save_html(path),
    "tuning": lambda path: tuning_log().save_html(path),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", SAVED)
def test_hostile_names_in_a_saved_page_do_not_execute(
    page: Page, tmp_path: Path, kind: str
) -> None:
    opened = watched(page)
    path = SAVED[kind](tmp_path / "page.html")
    page.goto(path.as_uri())
    page.wait_for_selector(".tvmdbg[data-ready]")
    click_everywhere(page)
    assert_nothing_ran(page, opened)


def test_names_do_not_control_the_terminal() -> None:
    text = "\x1b[31m\x9b2J\u202e\r"
    graph = graph_json([null(text), operator(text, text, [0], **{text: text})], shapes=[2])
    run = tvmdbg.open(graph)
    shown = [run, run.graph, run.findings(progress=False), run.check(), run.graph.issues]
    for wrong in (
        lambda: run.graph.node(text + "x"),
        lambda: run.graph.nodes[text],
        lambda: run.select(f"op:{text} ("),
        lambda: tvmdbg.GraphView(run, color_by=text),
        lambda: tvmdbg.open(f"/no/{text}"),
    ):
        with pytest.raises((LookupError, ValueError, TypeError, OSError, TraitError)) as caught:
            wrong()
        shown.append("\n".join(caught.value._render_traceback_()))
    for each in shown:
        said = each if isinstance(each, str) else repr(each)
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", said), said


def test_names_in_cell_output_do_not_execute(page: Page) -> None:
    """HTML beside figures: packets, findings, messages."""
    opened = watched(page)
    log, run, tuned = remote_run(), executorch_run(), tuning_log()
    explained = tvmdbg.explain(f"TVMError: Check failed: {HOSTILE} == {HOSTILE}\n{HOSTILE}")
    parts = [
        log._repr_mimebundle_()["text/html"],
        *(each.svg for each in (log.figure(), run.figure(), tuned.figure())),
        *(each._repr_html_() for each in (run.findings(), run.check(), run.table(), tuned.issues)),
        explained._repr_html_(),
    ]
    page.set_content(f"<!doctype html><title>cell</title>{''.join(parts)}")
    click_everywhere(page)
    assert_nothing_ran(page, opened)
    assert page.get_by_text("onerror").count() > 0
