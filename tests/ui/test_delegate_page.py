"""An opened delegate on the screen: each number of its events against what the runtime held."""

import re
from collections import defaultdict
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import tvmdbg_widgets as tvmdbg
from tests.formats.executorch.xnnpack_truth import ticks, truth
from tests.ui.host import serve, visit
from tests.ui.waits import frames, painted

CASES = ("attention", "two_runs", "weights_ptd", "two_methods")
#: Of a node the instruction that calls its delegate, and its number there.
Operator = tuple[int, int]


class Case:
    """A recorded program with what is true of the events of one of its methods."""

    def __init__(
        self, corpus: Path, name: str, method: str = "forward", *, edge: bool = False
    ) -> None:
        folder = corpus / "executorch/xnnpack_inside" / name
        files = [folder / "model.pte", folder / "etdump.etdp", *folder.glob("*.ptd")]
        files += [folder / "etrecord.bin"] if edge else []
        self.run = tvmdbg.open(*files, method=method)
        told = truth(folder)
        delegates = told["delegates"]
        self.own = [each for each in delegates if each["method"] == method]
        own = [call for call in told["calls"] if delegates[call["delegate"]] in self.own]
        self.runs = len({call["block"] for call in own})
        #: Nanoseconds of all runs together, of each set of operators and of the rest of each call.
        self.sums: dict[tuple[Operator, ...], int] = defaultdict(int)
        self.rests: dict[int, int] = defaultdict(int)
        for call in own:
            lasts = [each.ns for each in ticks(folder)[call["block"]]]
            at = call["instruction_id"]
            for event, nodes in zip(call["events"], call["xnodes"], strict=True):
                self.sums[tuple((at, node) for node in nodes)] += lasts[event]
            inner = sum(lasts[event] for event in call["events"])
            self.rests[at] += lasts[call["delegate_call_event"]] - inner
        self.called = {
            (at, node["index"]): f"{node['type']}_{node['index']}"
            for each in self.own
            for at in each["instruction_ids"]
            for node in each["nodes"]
        }

    def node(self, operator: Operator) -> int:
        """Return the node of an operator in the program's graph."""
        kind, _, number = self.called[operator].rpartition("_")
        name = f"{kind}_{operator[0]}_{number}"
        (found,) = (node.id for node in self.run.graph.nodes if node.name == name)
        return int(found)

    def edge_node(self, operator: Operator) -> int | None:
        """Return the edge node that an operator came from, None for what lowering inserted."""
        at, index = operator
        (nodes,) = (each["nodes"] for each in self.own if at in each["instruction_ids"])
        name = nodes[index]["edge_node_derived"]
        return next((node.id for node in self.run.graph.nodes if node.name == name), None)


def told(ns: float) -> str:
    """Return a time as the views write it, to four digits; a pattern."""
    if ns == 0:
        return r"(0\sns|<\s1\sµs)"
    for unit, size in (("ms", 1e6), ("µs", 1e3), ("ns", 1)):
        if ns >= size:
            digits = 1 if unit == "ns" else 4 - len(str(int(ns / size)))
            # A half may go either way.
            ends = {f"{ns / size + by:.{digits}f}" for by in (-1e-9, 1e-9)}
            return rf"({'|'.join(map(re.escape, sorted(ends)))})\s{unit}"
    raise AssertionError(ns)


def opened(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 1400, "height": 2200})
    visit(page, f"{address}?views=graph,timeline&width=1300&timeline.height=1400")
    painted(page)


def selected(page: Page, node: int) -> dict[str, str]:
    """Select a node; return what the panels of both views tell of it."""
    page.evaluate("(node) => tvmdbg.models.session.set('selected', [node])", node)
    page.wait_for_function(
        "(id) => document.querySelector('.tvmdbg-graph-details h3')?.textContent.startsWith(id)"
        " && document.querySelector('.tvmdbg-graph-details section')",
        arg=f"#{node} ",
    )
    frames(page)
    return {
        view: page.locator(f".tvmdbg-{view}-details").first.inner_text()
        for view in ("graph", "timeline")
    }


@pytest.mark.parametrize(
    ("name", "method"), [*((name, "forward") for name in CASES), ("two_methods", "encode")]
)
def test_delegate_times_match_recorded_events(
    page: Page, corpus: Path, name: str, method: str
) -> None:
    case = Case(corpus, name, method)
    with serve(case.run) as address:
        opened(page, address)
        rows = page.get_by_role("row").all_inner_texts()
        for (operator,), ns in case.sums.items():
            node = case.node(operator)
            mean = told(ns / case.runs)
            (row,) = (text for text in rows if re.search(rf"#{node}\b", text))
            assert re.search(mean, row), row
            texts = selected(page, node)
            for text in texts.values():
                assert re.search(rf"operator\s+{case.called[operator]}\b", text), text
                assert re.search(r"match\s+exact", text), text
                assert re.search(mean, text), text
        for number, (_, ns) in enumerate(sorted(case.rests.items()), 1):
            name = f"XNNPACK call( {number} of \\d)?, outside its operators"
            (row,) = (text for text in rows if re.search(name, text))
            assert re.search(told(ns / case.runs), row), row


@pytest.mark.parametrize("name", CASES)
def test_edge_operator_times_match_recorded_events(page: Page, corpus: Path, name: str) -> None:
    case = Case(corpus, name, edge=True)
    with serve(case.run) as address:
        opened(page, address)
        for (operator,), ns in case.sums.items():
            node = case.edge_node(operator)
            if node is None:
                continue
            text = selected(page, node)["graph"]
            assert re.search(rf"operator\s+{case.called[operator]}\b", text), text
            assert re.search(told(ns / case.runs), text), text


def test_slowest_key_shows_operator_inside_delegate(page: Page) -> None:
    """What lowering inserted into the first call, and what is left of that, took longer."""
    with serve(tvmdbg.open(tvmdbg.samples.executorch_xnnpack)) as address:
        opened(page, address)
        page.get_by_role("application").first.focus()
        page.keyboard.press("s")
        details = page.locator(".tvmdbg-graph-details").first
        expect(details).to_contain_text("29.00\xa0µs for 4 together")
        expect(details).to_contain_text("MaxPooling2d_5")


def test_nodes_selected_together_show_shared_times(page: Page) -> None:
    run = tvmdbg.open(tvmdbg.samples.executorch_xnnpack)
    with serve(run) as address:
        opened(page, address)
        for title, time in (("Conv2d_2", "13.00"), ("XNNPACK call 1 of 2", "146.8")):
            (group,) = run.groups.find(title)
            nodes = group.nodes.tolist()
            page.evaluate("(nodes) => tvmdbg.models.session.set('selected', nodes)", nodes)
            details = page.locator(".tvmdbg-timeline-details").first
            expect(details).to_contain_text(f"{len(nodes)} nodes selected")
            expect(details).to_contain_text(f"{time}\xa0µs (")


def test_operator_too_short_to_measure_shows_no_zero_time(page: Page, corpus: Path) -> None:
    case = Case(corpus, "attention")
    with serve(case.run) as address:
        opened(page, address)
        (operator,) = next(each for each, ns in case.sums.items() if not ns)
        texts = selected(page, case.node(operator))
        assert "0.00" not in texts["graph"]
        assert "p10" not in texts["graph"] + texts["timeline"]
