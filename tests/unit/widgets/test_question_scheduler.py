"""Who is answered when: newest first, short answers before long ones, nothing after the end."""

import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from unit.widgets.test_widgets_answers_tensor import run_of

from tvmdbg_widgets.answers.messages import Priority, PriorityGate
from tvmdbg_widgets.answers.question_scheduler import QuestionScheduler
from tvmdbg_widgets.model.tensors.planes import ArrayValues
from tvmdbg_widgets.run import DebugRun
from tvmdbg_widgets.sources.byte_source import BytesSource

LIMIT = 120.0  # only to end what hangs
SHAPE = (3000, 3000)
PICTURE = {"kind": "tensor", "entry": [0, 0], "rows": 64, "cols": 64}
COUNT = {"kind": "statistics", "entry": [0, 0], "exact": True}


class Pages:
    """Sends questions and waits for what comes back."""

    def __init__(self, run: DebugRun) -> None:
        self.scheduler = QuestionScheduler(run.facts, self._receive)
        self.answers: dict[str, tuple[dict[str, Any], list[bytes]]] = {}
        self.came = threading.Condition()
        self.asked = 0

    def _receive(self, content: dict[str, Any], buffers: list[bytes]) -> None:
        with self.came:
            assert content["id"] not in self.answers
            self.answers[content["id"]] = (content, buffers)
            self.came.notify_all()

    def send(self, question: dict[str, Any], client: str = "view", **fields: Any) -> str:
        self.asked += 1
        name = str(self.asked)
        self.scheduler.take({**question, "id": name, "client": client, **fields})
        return name

    def wait(self, name: str) -> dict[str, Any]:
        with self.came:
            assert self.came.wait_for(lambda: name in self.answers, LIMIT)
        return self.answers[name][0]

    def ask(self, question: dict[str, Any], client: str = "view", **fields: Any) -> Any:
        answer = self.wait(self.send(question, client, **fields))
        assert "error" not in answer, answer
        return answer["result"]

    def counted(self, question: dict[str, Any] = COUNT) -> dict[str, Any]:
        end = time.monotonic() + LIMIT
        while (told := self.ask(question))["state"] == "scanning":
            assert time.monotonic() < end
            time.sleep(0.01)
        return told


@pytest.fixture(scope="module")
def values() -> np.ndarray:
    return np.random.default_rng(0).standard_normal(SHAPE).astype(np.float32)


@pytest.fixture
def pages(values: np.ndarray) -> Iterator[Pages]:
    found = Pages(run_of(x=values, small=values[:5, :7]))
    yield found
    found.scheduler.close()


class Reading:
    """Holds back, or slows down, whoever reads values."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seconds, self.reads, self.free_reads, self.amount = 0.0, 0, 0, 0
        self.held = threading.Event()
        self.held.set()
        self.begun = threading.Event()
        real = ArrayValues.values

        def slowly(values: ArrayValues, start: int, stop: int) -> np.ndarray:
            if values.count == SHAPE[0] * SHAPE[1]:
                self.reads += 1
                self.amount += stop - start
                self.begun.set()
                assert self.reads <= self.free_reads or self.held.wait(LIMIT)
                time.sleep(self.seconds)
            return real(values, start, stop)

        monkeypatch.setattr(ArrayValues, "values", slowly)

    def hold(self, after: int) -> None:
        """Hold back all reads but the next few."""
        self.free_reads = self.reads + after
        self.held.clear()

    def rest(self) -> None:
        """Wait until nobody reads any more."""
        end = time.monotonic() + LIMIT
        before = -1
        while self.reads != before:
            assert time.monotonic() < end
            before = self.reads
            time.sleep(0.2)


@pytest.fixture
def reading(monkeypatch: pytest.MonkeyPatch) -> Reading:
    return Reading(monkeypatch)


def test_a_newer_question_ends_the_answer_to_an_older_one(pages: Pages, reading: Reading) -> None:
    reading.seconds = 0.01
    old = pages.send(PICTURE, exact=True)
    assert reading.begun.wait(LIMIT)
    new = pages.send(PICTURE, entry=[1, 0], exact=True)
    assert pages.wait(old)["error"] == "superseded by a newer question"
    assert pages.wait(new)["result"]["entry"] == [1, 0]
    stopped = reading.reads
    time.sleep(0.1)
    assert reading.reads == stopped
    assert pages.scheduler._newest == {}


def test_other_clients_and_other_kinds_are_not_touched(pages: Pages, reading: Reading) -> None:
    reading.seconds = 0.002
    first = pages.send(PICTURE, exact=True)
    assert reading.begun.wait(LIMIT)
    pages.ask(PICTURE, "other", entry=[1, 0], exact=True)
    pages.ask({"kind": "values", "entry": [1, 0], "row": 0, "col": 0, "rows": 2, "cols": 2})
    assert pages.wait(first)["result"]["tile"]["exact"]


def test_picture_is_sampled_first_and_exact_on_request(pages: Pages, reading: Reading) -> None:
    assert not pages.ask(PICTURE, exact=False)["tile"]["exact"]
    assert reading.amount < SHAPE[0] * SHAPE[1] / 4
    assert pages.ask(PICTURE, exact=True)["tile"]["exact"]
    before = reading.reads
    assert pages.ask(PICTURE, exact=False)["tile"]["exact"], "its cells are kept"
    assert reading.reads == before


def test_statistics_pass_reports_progress_and_ends_exact(
    pages: Pages, reading: Reading, values: np.ndarray
) -> None:
    first = pages.ask({**COUNT, "exact": False})
    assert (first["state"], first["done"], first["total"]) == ("sampled", 0, values.size)
    assert first["statistics"]["size"] < values.size
    reading.hold(after=9)
    seen = [pages.ask(COUNT)]
    while seen[-1]["state"] == "scanning":
        if seen[-1]["done"] > 0:
            reading.held.set()
        assert seen[-1]["distribution"] is None
        assert seen[-1]["statistics"]["size"] < values.size
        time.sleep(0.01)
        seen.append(pages.ask(COUNT))
    done = [each["done"] for each in seen]
    assert done == sorted(done)
    assert any(0 < each < values.size for each in done)
    last = seen[-1]["statistics"]
    assert (last["minimum"]["value"], last["maximum"]["value"]) == (values.min(), values.max())
    assert pages.ask({**COUNT, "exact": False})["state"] == "exact"


def test_a_pass_is_stopped_and_begun_again(pages: Pages, reading: Reading) -> None:
    reading.seconds = 0.05
    pages.ask(COUNT)
    told = pages.ask({**COUNT, "kind": "cancelTensor"})
    assert told["state"] == "cancelled"
    assert told["statistics"]["size"] < told["total"]
    reading.rest()
    assert pages.ask({**COUNT, "exact": False})["state"] == "sampled"
    reading.seconds = 0.0
    assert pages.counted()["state"] == "exact"


def test_cancelling_ends_the_picture_that_the_client_waits_for(
    pages: Pages, reading: Reading
) -> None:
    reading.seconds = 0.01
    mine = pages.send(PICTURE, exact=True)
    profile = pages.send({"kind": "profile", "entry": [0, 0], "axis": 0, "points": 9})
    assert reading.begun.wait(LIMIT)
    pages.ask({"kind": "cancelTensor", "entry": [0, 0]})
    assert "superseded" in pages.wait(mine)["error"]
    assert "superseded" in pages.wait(profile)["error"]


def test_findings_and_views_share_one_pass(pages: Pages, reading: Reading) -> None:
    run = pages.scheduler._run
    pages.counted()
    before = reading.reads
    run.tensors[0, 0].statistics()
    assert reading.reads == before
    found = run.tensors[0, 0].statistics()
    run.search.run()
    assert run.search.scan.scanned().statistics[0, 0] is found


def test_read_error_during_pass_is_reported(pages: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    real = ArrayValues.values
    broken = threading.Event()

    def failing(values: ArrayValues, start: int, stop: int) -> np.ndarray:
        if broken.is_set():
            raise OSError("the disk has gone")
        return real(values, start, stop)

    monkeypatch.setattr(ArrayValues, "values", failing)
    pages.ask({**COUNT, "exact": False})
    broken.set()
    end = time.monotonic() + LIMIT
    while "error" not in (told := pages.wait(pages.send(COUNT))):
        assert time.monotonic() < end
        time.sleep(0.01)
    assert told["error"] == "the disk has gone"
    broken.clear()
    assert pages.counted()["state"] == "exact"


def test_no_work_continues_after_close(values: np.ndarray, reading: Reading) -> None:
    pages = Pages(run_of(x=values))
    reading.seconds = 0.01
    pages.ask(COUNT)
    pages.send(PICTURE, exact=True)
    pages.ask({"kind": "health"})
    pages.scheduler.close()
    reading.rest()
    pages.send(PICTURE)
    time.sleep(0.05)
    assert str(pages.asked) not in pages.answers
    names = [thread.name for thread in threading.enumerate()]
    assert not [name for name in names if name in ("tvmdbg-pass", "tvmdbg-scan")]


def test_short_answers_do_not_wait_for_passes(pages: Pages) -> None:
    run = pages.scheduler._run
    stop = threading.Event()
    passes: list[int] = []

    def count() -> None:
        while not stop.is_set():
            passes.append(1)
            run.tensors[0, 0].with_dtype(run.tensors[0, 0].dtype).statistics(
                watch=lambda: pages.scheduler._answers.gate.give_way(Priority.PASS)
            )

    threads = [threading.Thread(target=count) for _ in range(2)]
    for thread in threads:
        thread.start()
    while len(passes) < 4:
        time.sleep(0.01)
    before = len(passes)
    for _ in range(40):
        pages.ask({"kind": "values", "entry": [0, 0], "row": 9, "col": 9, "rows": 40, "cols": 9})
    begun = len(passes) - before
    stop.set()
    for thread in threads:
        thread.join()
    assert begun < 40


def test_short_answers_are_padded_for_local_pages(pages: Pages) -> None:
    near = pages.send(PICTURE, entry=[1, 0], near=True)
    pages.wait(near)
    far = pages.send(PICTURE, entry=[1, 0])
    pages.wait(far)
    assert sum(map(len, pages.answers[near][1])) == 1 << 16
    assert pages.answers[near][1][0] == pages.answers[far][1][0]
    assert len(pages.answers[far][1]) == 1


class Clock:
    """Time that passes only where somebody waits."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, gate: PriorityGate) -> None:
        self.now, self.waited = 100.0, 0.0
        monkeypatch.setattr("tvmdbg_widgets.answers.messages.time", self)
        monkeypatch.setattr(gate._changed, "wait", self._wait)

    def monotonic(self) -> float:
        return self.now

    def _wait(self, seconds: float) -> bool:
        self.now += seconds
        self.waited += seconds
        return False

    def take(self) -> float:
        """Seconds that were waited since this was last asked."""
        told, self.waited = self.waited, 0.0
        return told


def test_work_gives_way_only_to_higher_priority(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = PriorityGate()
    clock = Clock(monkeypatch, gate)
    with gate.taken(Priority.PICTURE):
        gate.give_way(Priority.AT_ONCE)
        gate.give_way(Priority.PICTURE)
        assert clock.take() == 0
        gate.give_way(Priority.PASS)
        assert clock.take() == pytest.approx(0.25), "nobody starves"
        gate.give_way(Priority.PASS)
        assert clock.take() == 0, "what takes long holds up nobody again and again"
    gate.give_way(Priority.PASS)
    assert clock.take() == 0
    with gate.taken(Priority.AT_ONCE):
        gate.give_way(Priority.PICTURE)
    assert clock.take() == pytest.approx(0.02), "an answer that takes long waits for its file"


def test_waiting_work_resumes_when_higher_priority_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tvmdbg_widgets.answers.messages._PATIENCE", LIMIT)
    gate = PriorityGate()
    waiting = threading.Event()
    real = gate._changed.wait

    def wait(seconds: float) -> bool:
        waiting.set()
        return real(seconds)

    monkeypatch.setattr(gate._changed, "wait", wait)
    monkeypatch.setattr("tvmdbg_widgets.answers.messages._FIRST", dict.fromkeys(Priority, LIMIT))
    thread = threading.Thread(target=gate.give_way, args=(Priority.PASS,))
    with gate.taken(Priority.PICTURE):
        thread.start()
        assert waiting.wait(LIMIT)
        assert thread.is_alive()
    thread.join(LIMIT / 2)
    assert not thread.is_alive()


class Held:
    """A slow network: bytes of the first tensors do not come until they may."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.first, self.last = 0, 0
        self.reads = 0
        self.go_on = threading.Event()
        real = BytesSource._fill

        def fill(source: BytesSource, offset: int, view: memoryview) -> None:
            if self.first <= offset < self.last:
                self.reads += 1
                assert self.go_on.wait(LIMIT)
            real(source, offset, view)

        monkeypatch.setattr(BytesSource, "_fill", fill)
        monkeypatch.setattr(BytesSource, "far", True)


@pytest.fixture
def held(values: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Pages, Held]]:
    """A run whose tensors 0 and 1 cannot be read; 1 is small enough to be counted at once."""
    run = run_of(large=values, small=values[:100], quick=values[:50])
    source = Held(monkeypatch)
    source.first, source.last = run.tensors[0, 0].offset, run.tensors[2, 0].offset
    pages = Pages(run)
    yield pages, source
    source.go_on.set()
    pages.scheduler.close()


QUICK = {"kind": "values", "entry": [2, 0], "row": 9, "col": 9, "rows": 40, "cols": 9}


def test_quick_answers_do_not_wait_for_values_that_do_not_come(held: tuple[Pages, Held]) -> None:
    pages, source = held
    waiting = []
    for entry in ([0, 0], [1, 0]):
        for client in (f"a{entry}", f"b{entry}", f"c{entry}"):
            waiting += [
                pages.send(PICTURE, client, entry=entry, exact=False),
                pages.send(PICTURE, f"{client} all", entry=entry, exact=True),
                pages.send(COUNT, client, entry=entry),
                pages.send({**QUICK, "entry": entry}, client),
                pages.send({"kind": "percentiles", "percents": [50]}, client, entry=entry),
                pages.send({"kind": "data", "row": 0, "rows": 9}, client, entry=entry),
            ]
    end = time.monotonic() + LIMIT
    while source.reads < 12:
        assert time.monotonic() < end
        time.sleep(0.01)
    for question in (
        QUICK,
        {**PICTURE, "entry": [2, 0], "exact": False},
        {**PICTURE, "entry": [2, 0], "exact": True},
        {**COUNT, "entry": [2, 0], "exact": False},
    ):
        pages.ask(question)
    with pages.came:
        assert not set(waiting) & set(pages.answers)
    source.go_on.set()
    for name in waiting:
        pages.wait(name)


@pytest.mark.parametrize(
    "question",
    [{"kind": "data", "row": 0, "rows": SHAPE[0]}, {"kind": "percentiles", "percents": [50]}],
)
def test_saving_and_percentiles_are_cancelled_and_superseded(
    pages: Pages, reading: Reading, monkeypatch: pytest.MonkeyPatch, question: dict[str, Any]
) -> None:
    pages.counted()
    real = ArrayValues.window

    def window(values: ArrayValues, selection: Any) -> np.ndarray:
        reading.begun.set()
        assert reading.held.wait(LIMIT)
        return real(values, selection)

    monkeypatch.setattr(ArrayValues, "window", window)

    def begun(**fields: Any) -> str:
        reading.begun.clear()
        reading.held.clear()
        name = pages.send(question, entry=[0, 0], **fields)
        assert reading.begun.wait(LIMIT)
        return name

    old = begun()
    new = pages.send(question, entry=[1, 0])
    other = pages.send(question, "other", entry=[1, 0])
    reading.held.set()
    assert "superseded" in pages.wait(old)["error"]
    assert "result" in pages.wait(new)
    assert "result" in pages.wait(other)
    gone = begun()
    assert pages.ask({"kind": "cancel", "what": question["kind"]}, "other") is None
    assert pages.ask({"kind": "cancel", "what": question["kind"]}) is None
    reading.held.set()
    assert "superseded" in pages.wait(gone)["error"]
    assert pages.scheduler._newest == {}


@pytest.mark.parametrize("what", ["statistics", 7, ["data"], "x" * 300])
def test_other_kinds_cannot_be_cancelled(pages: Pages, what: object) -> None:
    assert (
        "what must be one of" in pages.wait(pages.send({"kind": "cancel", "what": what}))["error"]
    )
