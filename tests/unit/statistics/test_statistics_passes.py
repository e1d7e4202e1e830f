"""Passes in parts: any split gives the same, wherever the parts are counted, and all can stop."""

import math
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import nullcontext
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.statistics.statistics_truth import NAMES, check, decoded, some_bytes, values_of
from tvmdbg_widgets.model.statistics import Statistics, passes, statistics
from tvmdbg_widgets.model.statistics.contrast import Kept
from tvmdbg_widgets.model.statistics.tallies import tally
from tvmdbg_widgets.model.tensors.dtypes import DataType
from tvmdbg_widgets.model.tensors.planes import ArrayValues
from tvmdbg_widgets.sources.file_source import FileSource


class StoppedError(Exception):
    pass


def facts(found: Statistics) -> list[Any]:
    """All fields, comparable; NaN is like NaN."""
    spread, counted = found.distribution, found.histogram
    told = [str(getattr(found, name)) for name in found.__slots__ if name != "distribution"]
    told = [each for each in told if not each.startswith("Histogram")]
    if spread is not None:
        low, high = spread.bounds()
        told += [low.tolist(), high.tolist(), spread.counts.tolist()]  # type: ignore[list-item]
    if counted is not None:
        told += [counted.counts.tolist(), counted.edges.tolist()]  # type: ignore[list-item]
    return told


@given(st.sampled_from(NAMES), st.data())
@settings(max_examples=60)
def test_any_split_merges_to_the_same(name: str, data: st.DataObject) -> None:
    array = decoded(data.draw(some_bytes(name)), name)
    size = data.draw(st.integers(1, 50))
    begins = list(range(0, len(array), size))
    groups = data.draw(st.lists(st.integers(0, 3), min_size=len(begins), max_size=len(begins)))
    parts = [tally(array.dtype) for _ in range(4)]
    whole = tally(array.dtype)
    for begin, group in zip(begins, groups, strict=True):
        chunk = array[begin : begin + size]
        for each in (parts[group], whole):
            with np.errstate(invalid="ignore"):
                each.add(chunk, lambda index, begin=begin: begin + index)
    order = data.draw(st.permutations(range(4)))
    merged = pickle.loads(pickle.dumps(parts[order[0]]))  # noqa: S301 (our own)
    for index in order[1:]:
        merged.merge(pickle.loads(pickle.dumps(parts[index])))  # noqa: S301 (likewise)
    assert facts(merged.finish()) == facts(whole.finish()), "not even rounding differs"
    check(array, merged.finish())


LIMIT = 30.0


@pytest.fixture(params=["float32", "int8", "int64"])
def stored(request: pytest.FixtureRequest, tmp_path: Path) -> ArrayValues:
    """Three million values in a file."""
    return write(tmp_path, request.param)


@pytest.fixture
def floats(tmp_path: Path) -> ArrayValues:
    return write(tmp_path, "float32")


def write(tmp_path: Path, name: str) -> ArrayValues:
    array = (np.random.default_rng(1).standard_normal(3_000_017) * 30).astype(name)
    array[2_000_000] = 100
    path = tmp_path / "x.bin"
    path.write_bytes(array.tobytes())
    return ArrayValues(
        FileSource(path), 0, array.nbytes, DataType.parse(name), array.shape, "bytes"
    )


@pytest.fixture
def whole(stored: ArrayValues) -> list[Any]:
    return facts(statistics(stored))


def test_large_pass_runs_on_its_own_threads(
    stored: ArrayValues, whole: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passes, "_LARGE", 1)
    monkeypatch.setattr(passes, "cores", lambda: 4)
    monkeypatch.setattr(passes, "_SPAN_PIECES", 2)
    seen: set[int] = set()
    found = statistics(stored, watch=lambda: seen.add(threading.get_ident()))
    assert facts(found) == whole
    assert threading.get_ident() not in seen, "none was counted here"


def test_thread_pool_does_not_change_statistics(stored: ArrayValues, whole: list[Any]) -> None:
    with ThreadPoolExecutor(3) as executor:
        assert facts(statistics(stored, executor=executor)) == whole


def test_statistics_from_executor_threads_do_not_deadlock(
    stored: ArrayValues, whole: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passes, "_SPAN_PIECES", 1)
    together = threading.Barrier(2)
    executor = ThreadPoolExecutor(2)

    def work() -> list[Any]:
        together.wait(LIMIT)
        return facts(statistics(stored, executor=executor))

    both = [executor.submit(work) for _ in range(2)]
    try:
        assert [each.result(LIMIT) for each in both] == [whole, whole]
    finally:
        executor.shutdown(wait=False, cancel_futures=True)


def test_process_pool_does_not_change_statistics(tmp_path: Path) -> None:
    with ProcessPoolExecutor(2, get_context("spawn")) as executor:
        for name in ("float32", "int8", "int64"):
            stored = write(tmp_path, name)
            done: list[int] = []
            found = statistics(stored, executor=executor, progress=done.append)
            assert facts(found) == facts(statistics(stored))
            assert done == sorted(done)
            assert done[-1] == stored.count


def test_dask_executor_does_not_change_statistics(floats: ArrayValues) -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        found = statistics(floats, executor=client.get_executor())
    assert facts(found) == facts(statistics(floats))


def test_progress_counts_every_value(floats: ArrayValues) -> None:
    done: list[int] = []
    watched: list[int] = []
    statistics(floats, watch=lambda: watched.append(1), progress=done.append)
    assert done == sorted(done)
    assert done[-1] == floats.count
    assert len(done) == -(-floats.count // passes.per_piece(floats))
    assert len(watched) >= len(done)


@pytest.mark.parametrize("where", ["here", "threads", "executor", "processes"])
def test_watch_stops_a_pass(
    where: str, floats: ArrayValues, monkeypatch: pytest.MonkeyPatch
) -> None:
    if where == "threads":
        monkeypatch.setattr(passes, "_LARGE", 1)
        monkeypatch.setattr(passes, "cores", lambda: 3)
    done: list[int] = []
    calls: list[int] = []

    def watch() -> None:
        calls.append(1)
        if len(calls) > 2:
            raise StoppedError

    kept = Kept(floats)
    pool = {
        "executor": lambda: ThreadPoolExecutor(2),
        "processes": lambda: ProcessPoolExecutor(1, get_context("spawn")),
    }.get(where, nullcontext)
    with pool() as executor, pytest.raises(StoppedError):
        kept.statistics(watch=watch, progress=done.append, executor=executor)
    assert (done or [0])[-1] < floats.count
    assert kept.statistics().size == floats.count, "and it can begin again"


class Slow:
    """Values of which each piece takes a while; counts the reads."""

    is_ordered = True

    def __init__(self, values: ArrayValues) -> None:
        self._values = values
        self.count, self.numpy_dtype, self.dtype = values.count, values.numpy_dtype, values.dtype
        self.reads = 0

    def values(self, start: int, stop: int) -> np.ndarray[Any, Any]:
        self.reads += 1
        time.sleep(0.01)
        return self._values.values(start, stop)


def test_all_threads_stop_after_one_fails(
    floats: ArrayValues, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passes, "_LARGE", 1)
    monkeypatch.setattr(passes, "cores", lambda: 4)
    monkeypatch.setattr(passes, "_SPAN_PIECES", 1)
    before = threading.active_count()

    class Broken(Slow):
        def values(self, start: int, stop: int) -> np.ndarray[Any, Any]:
            if start >= 1_000_000:
                raise OSError("gone")
            return super().values(start, stop)

    for _ in range(5):
        with pytest.raises(OSError, match="gone"):
            statistics(Broken(floats))
        assert threading.active_count() <= before + 1, "none goes on"


def test_concurrent_callers_share_one_pass(floats: ArrayValues) -> None:
    slow = Slow(floats)
    kept = Kept(slow)  # type: ignore[arg-type]
    told: list[int] = []
    with ThreadPoolExecutor(3) as threads:
        futures = [threads.submit(kept.statistics, progress=told.append) for _ in range(3)]
        found = [each.result() for each in futures]
    assert found[0] is found[1] is found[2] is kept.statistics()
    assert slow.reads <= 4 * -(-floats.count // passes.per_piece(floats)), "one pass, three looks"
    assert max(told) == floats.count


def test_waiting_caller_gets_result_after_first_caller_stops(floats: ArrayValues) -> None:
    kept = Kept(Slow(floats))  # type: ignore[arg-type]
    stop, begun = threading.Event(), threading.Event()

    def watch() -> None:
        begun.set()
        if stop.is_set():
            raise StoppedError

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(kept.statistics, watch=watch)
        assert begun.wait(10)
        second = threads.submit(kept.statistics)
        stop.set()
        with pytest.raises(StoppedError):
            first.result()
        assert second.result().size == floats.count


def test_other_bins_reuse_the_same_pass(floats: ArrayValues) -> None:
    kept = Kept(floats)
    first, second = kept.statistics(64), kept.statistics(7)
    assert (len(first.histogram.counts), len(second.histogram.counts)) == (64, 7)
    assert first.distribution is second.distribution
    assert kept.statistics(64) is first


def test_kept_statistics_can_be_pickled(floats: ArrayValues) -> None:
    kept = Kept(floats)
    found = pickle.loads(pickle.dumps(kept.statistics()))  # noqa: S301 (our own)
    assert facts(found) == facts(kept.statistics())
    assert pickle.loads(pickle.dumps(kept)).statistics().size == found.size  # noqa: S301 (likewise)


def test_statistics_of_no_values_are_empty() -> None:
    def nothing() -> Iterator[np.ndarray[Any, Any]]:
        return iter(())

    found = statistics(nothing)
    assert (found.size, found.finite, found.distribution) == (0, 0, None)
    assert math.isnan(found.mean)
    assert statistics(values_of(b"", "bfloat16")).at_highest == 0


def test_running_pass_does_not_block_process_exit() -> None:
    code = (
        "import threading, time, numpy as np\n"
        "from tvmdbg_widgets.model.statistics import statistics\n"
        "class Endless:\n"
        "    count, numpy_dtype = 10**12, np.dtype('f4')\n"
        "    def values(self, start, stop):\n"
        "        begun.set(); time.sleep(0.01); return np.zeros(stop - start, 'f4')\n"
        "begun = threading.Event()\n"
        "threading.Thread(target=lambda: statistics(Endless()), daemon=True).start()\n"
        "assert begun.wait(20)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
