"""``tvmdbg compare``: differences between two runs."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tvmdbg_widgets.cli.common.dump import NamedRun, print_json, read_once
from tvmdbg_widgets.cli.common.verbs import FOUND, argument, examples, flag, verb

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.compare import Comparison
    from tvmdbg_widgets.analysis.compare_times import TimeChange, TimeComparison

EXAMPLES = examples(
    ("What a different optimization level changed", "tvmdbg compare /tmp/tvmdbg_o0 /tmp/tvmdbg_o3"),
    ("In CI: same graph as before", "tvmdbg compare before after --fail-on structure"),
    ("Which operators became slower", "tvmdbg compare before after --times"),
    ("In CI: not slower beyond noise", "tvmdbg compare a b --times --fail-on slower"),
    ("For another program", "tvmdbg compare before after --json | jq '.differences[]'"),
)


_NUMBERS = ("ns_a", "ns_b", "change_ns", "ratio", "p", "q", "shift_ns", "low_ns", "high_ns")
CompareFailOn = StrEnum("CompareFailOn", "ANY STRUCTURE SLOWER")


@verb
def compare(
    a: Annotated[str, argument("A", "A dump folder, or a file.")],
    b: Annotated[str, argument("B", "The run to compare with.")],
    *,
    fail_on: Annotated[
        CompareFailOn | None,
        typer.Option(
            "--fail-on",
            help="Exit with status 1 if anything but times differs; 'structure': nodes, operators, "
            "wiring, dtypes or shapes; 'slower', with --times: B as a whole takes longer by more "
            "than noise.",
        ),
    ] = None,
    times: Annotated[
        bool,
        typer.Option(
            "--times", help="Compare times only: per operator, and which differ by more than noise."
        ),
    ] = False,
    by_kind: Annotated[
        bool, typer.Option("--by-kind", help="With --times: sum by operator kind.")
    ] = False,
    warm_up: Annotated[
        int, typer.Option("--warm-up", min=0, help="With --times: skip the first N repeats.")
    ] = 0,
    as_json: Annotated[bool, flag("Write JSON.", "--json")] = False,
) -> None:
    """Compare two runs: match their nodes, with confidence, and list what differs.

    The runs may differ in release, precision, layout or optimization level. Times are listed with
    the largest differences first; with --times each row says whether the difference exceeds
    noise, judged by the repeats of both runs, or why that is unknown. For runs without a graph
    (tables, traces of any program) --times compares by name.
    """
    import tvmdbg_widgets as tvmdbg

    _sensible(fail_on, times=times, other=by_kind or warm_up > 0)
    read_once(a, b)
    if times:
        _times(a, b, fail_on, as_json=as_json, by_kind=by_kind, warm_up=warm_up)
        return
    comparison = tvmdbg.compare(NamedRun([a]).open(), NamedRun([b]).open())
    if as_json:
        print_json(_record(comparison))
    else:
        print(comparison)
    if fail_on is not None and _differs(comparison, fail_on):
        raise typer.Exit(FOUND)


def _sensible(fail_on: CompareFailOn | None, *, times: bool, other: bool) -> None:
    """Refuse combinations of options without a meaning."""
    if times and fail_on not in (None, CompareFailOn.SLOWER):
        raise typer.BadParameter(
            f"'{fail_on}' is not about times: use 'slower'", param_hint="--fail-on"
        )
    if not times and fail_on is CompareFailOn.SLOWER:
        raise typer.BadParameter("'slower' needs --times", param_hint="--fail-on")
    if other and not times:
        raise typer.BadParameter("--by-kind and --warm-up need --times")


def _times(
    a: str, b: str, fail_on: CompareFailOn | None, *, as_json: bool, by_kind: bool, warm_up: int
) -> None:
    import tvmdbg_widgets as tvmdbg
    from tvmdbg_widgets.analysis.compare_times import TimeVerdict

    comparison = tvmdbg.compare_times(NamedRun([a]).open(), NamedRun([b]).open(), warm_up=warm_up)
    if as_json:
        print_json(_times_record(comparison))
    else:
        print(comparison.by("kind") if by_kind else comparison)
    if fail_on is not None and comparison.total.verdict is TimeVerdict.SLOWER:
        raise typer.Exit(FOUND)


def _times_record(comparison: TimeComparison) -> dict[str, Any]:
    return {
        "a": comparison.titles[0],
        "b": comparison.titles[1],
        "said": list(comparison.caption[1:]),
        "total": _row(comparison.total),
        "kinds": list(map(_row, comparison.by("kind"))),
        "rows": list(map(_row, comparison)),
    }


def _row(row: TimeChange) -> dict[str, Any]:
    numbers = {name: getattr(row, name) for name in _NUMBERS}
    return {
        "label": row.label,
        "kind": row.kind,
        "a": list(row.a),
        "b": list(row.b),
        **{name: None if math.isnan(value) else value for name, value in numbers.items()},
        "verdict": row.verdict.label,
        "why": row.why,
        "match": row.match or None,
    }


def _differs(comparison: Comparison, fail_on: CompareFailOn) -> bool:
    from tvmdbg_widgets.analysis.differences import DifferenceKind

    last = DifferenceKind.SHAPE if fail_on is CompareFailOn.STRUCTURE else DifferenceKind.STORAGE
    return any(difference.kind <= last for difference in comparison)


def _record(comparison: Comparison) -> dict[str, Any]:
    return {
        "a": comparison.titles[0],
        "b": comparison.titles[1],
        "sentence": comparison.sentence,
        "matched": comparison.matching.counts(),
        "pairs": [
            {
                "a": pair.a,
                "b": pair.b,
                "certainty": pair.certainty.label,
                "reason": pair.reason.label,
            }
            for pair in comparison.matching
        ],
        "only_a": comparison.matching.only_a.tolist(),
        "only_b": comparison.matching.only_b.tolist(),
        "differences": [
            {
                "kind": difference.kind.label,
                "a": difference.a if difference.a >= 0 else None,
                "b": difference.b if difference.b >= 0 else None,
                **{name: getattr(difference, name) for name in ("what", "in_a", "in_b")},
            }
            for difference in comparison
        ],
    }
