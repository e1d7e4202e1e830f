"""The table of the Relay VM's profiler, printed as ``get_stat`` of TVM v0.7 prints it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.formats.tvm.versions import read_vm_table, sniff
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.sources.byte_source import BytesSource

pytestmark = pytest.mark.spec_only

Calls = dict[str, list[float]]


def printed(calls: Calls, *, shapes: str = "") -> str:
    """What the printer's stream makes: padded to 80 and 10, six significant digits."""
    title = "#OpNameNShape" if shapes else "#OpName"
    lines = [f"{title:<80}\t{'#InvokeCount':<10}\t#Duration(us): Sum/Mean/Min/Max"]
    for name, times in calls.items():
        total = sum(times)
        numbers = (total, total / len(times), min(times), max(times))
        text = "/".join(f"{number:.6g}" for number in numbers)
        lines.append(f"{name + shapes:<80}\t{len(times):<10}\t{text}")
    total = sum(map(sum, calls.values()))
    count = sum(map(len, calls.values()))
    lines += ["", f"Total Duration: {total:.6g} us.\tTotal Packed Functions: {count}", ""]
    return "\n".join(lines)


def test_rows_are_sums_over_the_calls_of_a_function() -> None:
    calls = {"fused_nn_dense": [120.5, 80.25, 99.0], "fused_add": [1.5]}
    data = ("log line\n" + printed(calls)).encode()
    assert sniff(data)
    report = read_vm_table(BytesSource(data, "vm.txt"))
    assert list(report.names) == list(calls)
    assert report.duration_ns.tolist() == [299750.0, 1500.0]
    assert report.count.tolist() == [3, 1]
    assert report.metrics["Mean (us)"][0].value == 99.9167
    assert report.metrics["Min (us)"][0].value == 80.25
    assert report.metrics["Max (us)"][0].value == 120.5
    assert not report.issues
    assert report.aggregated
    run = tvmdbg.open(data)
    assert run.provenance.releases == "TVM v0.6 to v0.7"
    assert run.check().by_rule("rows-merged")


def test_shapes_after_the_name_are_read() -> None:
    report = read_vm_table(
        BytesSource(printed({"f": [1.0]}, shapes=" float32[1, 2], float32[1, 2]").encode())
    )
    assert list(report.names) == ["f"]
    assert len(report.arguments(0)) == 2


def test_missing_rows_and_missing_end_are_reported() -> None:
    text = printed({"a": [2.0, 1.0], "b": [5.0]})
    lines = text.split("\n")
    without = "\n".join([lines[0], *lines[2:]])
    report = read_vm_table(BytesSource(without.encode(), "vm.txt"))
    assert [issue.rule for issue in report.issues] == ["total-disagrees"]
    cut = read_vm_table(BytesSource("\n".join(lines[:2]).encode(), "vm.txt"))
    assert cut.truncated
    assert [issue.rule for issue in cut.issues] == ["report-cut"]
    with pytest.raises(FormatError, match="VM profiler"):
        read_vm_table(BytesSource(b"nothing"))


@pytest.mark.parametrize(
    "end", ["Total Duration 8 us", "Total Duration: 8 us.", "Total Duration 8 us\n"]
)
def test_total_without_call_count_is_read(end: str) -> None:
    lines = printed({"a": [2.0, 1.0], "b": [5.0]}).split("\n")[:-2]
    report = read_vm_table(BytesSource("\n".join([*lines, end]).encode(), "vm.txt"))
    assert not report.truncated
    assert not report.issues
    wrong = read_vm_table(BytesSource("\n".join([*lines[:-2], end]).encode(), "vm.txt"))
    assert [issue.rule for issue in wrong.issues] == ["total-disagrees"]


@pytest.mark.parametrize("line", [" " * 65_000, "1 " * 32_000, "\t" * 65_000 + "1/1/1/1"])
def test_long_blank_lines_are_skipped(line: str) -> None:
    """An expression that looks for the name's end from its start takes minutes for ten of them."""
    text = printed({"a": [2.0]}).replace("\n", f"\n{line}\n" * 10, 1)
    report = read_vm_table(BytesSource(text.encode(), "vm.txt"))
    assert list(report.names) == ["a"]


@given(
    st.dictionaries(
        st.text(
            st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=100
        ),
        st.lists(st.floats(1e-3, 1e9), min_size=1, max_size=4),
        min_size=1,
        max_size=4,
    )
)
def test_printed_table_is_read_back(calls: Calls) -> None:
    report = read_vm_table(BytesSource(printed(calls).encode(), "vm.txt"))
    assert list(report.names) == list(calls)
    for row, times in enumerate(calls.values()):
        assert abs(report.duration_ns[row] - sum(times) * 1e3) <= report.rounding_ns[row] * 1.01
        assert report.count[row] == len(times)
    assert not report.issues


def test_all_tables_of_a_log_are_accessible_and_comparable() -> None:
    before = printed({"fused_nn_dense": [120.5, 80.5], "fused_add": [1.5]})
    after = printed({"fused_nn_dense": [20.5, 30.5], "fused_add": [2.5]})
    run = tvmdbg.open(f"before\n{before}\nafter\n{after}\n".encode())
    assert [each.timeline.total_ns for each in run.tables] == [202_500.0, 53_500.0]
    assert run.timeline.total_ns == 53_500.0
    assert [issue.rule for issue in run.check()].count("several-tables") == 1
    assert "run.tables has each" in str(run.check())
    compared = run.tables[0].compare_times(run.tables[1])
    assert (compared.total_a, compared.total_b) == (202_500.0, 53_500.0)
    assert [row.label for row in compared] == ["dense", "add"]
    (alone,) = tvmdbg.open(before.encode()).tables
    assert not [issue for issue in alone.check() if issue.rule == "several-tables"]


@pytest.mark.parametrize("first", [True, False])
def test_a_table_of_the_debugger_in_the_same_log_is_kept(first: bool) -> None:
    heading = "Node Name  Ops  Time(us)  Time(%)  Shape   Inputs  Outputs  "
    dashes = "---------  ---  --------  -------  -----   ------  -------  "
    row = "dense      d    8.000     100.0    (2, 3)  1       1        "
    debugger = f"{heading}\n{dashes}\n{row}\n"
    texts = [debugger, printed({"fused_nn_dense": [120.5]})]
    run = tvmdbg.open("\n".join(texts if first else texts[::-1]).encode())
    assert sorted(each.timeline.total_ns for each in run.tables) == [8_000.0, 120_500.0]
    assert run.timeline.total_ns == 8_000.0
    assert len(run.reports) == 1
