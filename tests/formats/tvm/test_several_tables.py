"""Logs of several tables: each is reached, and each is printed again as it was read."""

import json
import warnings
from pathlib import Path

import pytest
from formats.tvm.times_truth import corpus_cases, own_cases

import tvmdbg_widgets as tvmdbg
from tests.graph_json import document, null, operator
from tvmdbg_widgets.formats.tvm.table import TimedNode, print_table

Shape = tuple[int, ...]


def printed(times: dict[str, float], shape: Shape = (1, 8), *, style: str = "v0.9") -> str:
    nodes = [TimedNode(name, name, (us * 1e-6,), (shape,), 2) for name, us in times.items()]
    return print_table(nodes, style=style)


BEFORE = printed({"fused_nn_conv2d": 40.0, "fused_add": 5.0}, (1, 8, 4, 4))
AFTER = printed({"fused_nn_conv2d": 9.0, "fused_add": 5.0}, (1, 1, 4, 4, 8))
AGAIN = printed({"fused_nn_conv2d": 41.0, "fused_add": 6.0}, (1, 8, 4, 4))


def rules(run: tvmdbg.DebugRun) -> list[str]:
    return [issue.rule for issue in run.check()]


def test_all_tables_of_a_log_are_accessible_and_comparable() -> None:
    run = tvmdbg.open(f"before\n{BEFORE}\n\nafter\n{AFTER}\n".encode())
    assert [each.table().as_tvm() for each in run.tables] == [BEFORE, AFTER]
    assert run.table().as_tvm() == AFTER
    one, other = run.tables
    assert (one.timeline.total_ns, other.timeline.total_ns) == (45_000.0, 14_000.0)
    compared = one.compare_times(other)
    assert (compared.total_a, compared.total_b) == (45_000.0, 14_000.0)


def test_table_with_infinite_measurement_can_be_saved(tmp_path: Path) -> None:
    run = tvmdbg.open(BEFORE.replace("[40.0]", "[inf] ").encode())
    assert run.timeline.node(0).n == 0
    saved = tvmdbg.open(run.save(tmp_path / "run"))
    assert saved.timeline.node_ns.tolist() == [40_000.0, 5_000.0]
    old = tvmdbg.open(printed({"a": 1.0}, style="v0.6").replace("1.0 ", "inf ").encode())
    assert old.timeline.node(0).n == 0
    old.save(tmp_path / "old")


def test_log_without_dump_reports_no_joins_or_stale_tensors() -> None:
    for second in (AFTER, AGAIN):
        run = tvmdbg.open(f"{BEFORE}\n{second}\n".encode())
        assert rules(run).count("more-than-one") == 1
        assert not {"stale-tensors", "tables-disagree"} & set(rules(run))
        found = {each.rule for each in run.findings()}
        assert not {"stale-tensors", "ambiguous-joins"} & found
    text = printed({"a": 1.0}) + "\n" + printed({"a": 1.0})
    assert [len(each.table()) for each in tvmdbg.open(text.encode()).tables] == [1, 1]


def test_table_without_total_row_of_others_is_reported_as_cut() -> None:
    cut = "\n".join(AFTER.split("\n")[:3])
    run = tvmdbg.open(f"{BEFORE}\n\nlog\n{cut}\n".encode())
    (issue,) = (each for each in run.check() if each.rule == "table-cut")
    assert issue.message.startswith("table 2 of 2 in the log ends without Total_time")
    assert "table-cut" not in rules(tvmdbg.open(f"{cut}\n\nlog\n{cut}\n".encode()))


def test_trailing_heading_is_reported_as_pasted_text() -> None:
    head = "\n".join(AFTER.split("\n")[:2])
    run = tvmdbg.open(f"{BEFORE}\n\nlog\n{head}\n".encode())
    (issue,) = (each for each in run.check() if each.rule == "pasted-text")
    assert issue.message.startswith("pasted text: a heading of the table of TVM's debugger is in")


def test_table_that_matches_the_graph_is_used() -> None:
    nodes = [("x", (1, 8, 4, 4)), ("fused_nn_conv2d", (1, 8, 4, 4)), ("fused_add", (1, 8, 4, 4))]
    written = [null("x"), *(operator(name, name, [i]) for i, (name, _) in enumerate(nodes[1:]))]
    graph = document(written, shapes=[shape for _, shape in nodes])
    log = f"{BEFORE}\n{AFTER}\n".encode()
    run = tvmdbg.open(json.dumps(graph).encode(), log)
    assert run.timeline.total_ns == 45_000.0
    assert [each.graph is not None for each in run.tables] == [True, False]
    string = tvmdbg.open(json.dumps(json.dumps(graph)).encode(), log)
    assert "versions-contradict" not in rules(string)
    assert string.provenance.releases == "TVM v0.9 to v0.19"


def test_as_tvm_matches_recorded_output_of_the_release(data: Path) -> None:
    checked = 0
    for case in own_cases(data):
        text = (case.folder / "run_stdout.txt").read_bytes().decode().removesuffix("\n")
        run = tvmdbg.open(case.folder / "run_stdout.txt")
        assert run.table().as_tvm() == text
        with_times = tvmdbg.open(case.folder / "graph.json", case.folder / "time_list.json")
        release = case.version.removeprefix("v")
        assert with_times.table().as_tvm(release) == text
        assert with_times.table().as_tvm(f"v{release}.0") == text
        checked += 1
    assert checked == 3


def test_recorded_dumps_print_the_table_that_tvm_printed(corpus: Path) -> None:
    """Times are kept in nanoseconds: one tie of a last digit in all these files falls otherwise."""
    differing = 0
    for case in corpus_cases(corpus):
        if (case.folder / "run2_stdout.txt").exists():
            continue
        text = (case.folder / "run_stdout.txt").read_bytes().decode().removesuffix("\n")
        assert tvmdbg.open(case.folder / "run_stdout.txt").table().as_tvm() == text, case.folder
        if not (case.folder / "tvmdbg").is_dir():
            continue
        times = case.folder / "time_list.json"
        run = tvmdbg.open(case.folder / "tvmdbg", times)
        ours = run.table().as_tvm(case.version).split("\n")
        theirs = text.split("\n")
        assert len(ours) == len(theirs), case.folder
        differing += sum(a != b for a, b in zip(ours, theirs, strict=True))
    assert differing <= 1


def test_as_tvm_warns_if_release_is_unknown() -> None:
    sample = tvmdbg.samples.resnet20_cifar / "_tvmdbg_device_CPU_0"
    graph, trace = sample / "_tvmdbg_graph_dump.json", sample / "_tvmdbg_execution_trace.json"
    run = tvmdbg.open(graph, trace)
    with pytest.warns(UserWarning, match="release"):
        latest = run.table().as_tvm()
    with pytest.warns(UserWarning, match="mean"):
        assert run.table().as_tvm("0.19") == latest
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "Measurements" not in run.table().as_tvm("0.8")


def test_as_tvm_refuses_bad_release_and_partial_table() -> None:
    run = tvmdbg.open(BEFORE.encode())
    assert run.table().as_tvm("0.12") == BEFORE
    for release in ("0.4", "0.20", "1.0", "x", "", "0.27"):
        with pytest.raises(ValueError, match="release"):
            run.table().as_tvm(release)
    with pytest.raises(ValueError, match="graph"):
        run.table().as_tvm("0.8")
    with pytest.raises(ValueError, match="times of day"):
        run.table().as_tvm("0.5")
    with pytest.raises(ValueError, match="all operators"):
        run.top(1).as_tvm()
    with pytest.raises(ValueError, match="all operators"):
        run.table()[:1].as_tvm()


def test_all_profiler_tables_are_accessible() -> None:
    def report(us: float) -> str:
        rows = [("Name", "Duration (us)", "Percent"), ("fused_add", f"{us:.2f}", "100.00")]
        return "".join(f"{a:<9}  {b:>13}  {c:>7}  \n" for a, b, c in rows)

    run = tvmdbg.open(f"before\n{report(40)}\nafter\n{report(9)}\n".encode())
    assert [each.timeline.total_ns for each in run.tables] == [40_000.0, 9_000.0]
    assert run.timeline.total_ns == 9_000.0
    assert rules(run).count("several-tables") == 1
    assert run.tables[0].compare_times(run.tables[1]).change_ns == -31_000.0
