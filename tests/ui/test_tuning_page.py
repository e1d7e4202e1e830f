"""The view of a tuning log in a page: chart, table, panes, by pointer and by keys alone."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.make.tuning_story import story
from tests.ui.pointer import box_of, drag, inside
from tests.ui.tuning_page import TuningPage
from tests.ui.waits import frames
from tvmdbg_widgets import open_tuning
from tvmdbg_widgets.tuning import TuningLog

pytestmark = pytest.mark.usefixtures("own_page")

ROUNDS = 10


@cache
def lines() -> tuple[str, ...]:
    return tuple(story("starved", rounds=ROUNDS))


@cache
def records() -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines()]


@cache
def log() -> TuningLog:
    return open_tuning("".join(lines()).encode())


@cache
def tasks() -> list[str]:
    """Workload keys by first appearance."""
    return list(dict.fromkeys(each["i"][0][0] for each in records()))


def task_of(row: int) -> int:
    return tasks().index(records()[row]["i"][0][0])


def cost(row: int) -> float | None:
    costs, error, *_ = records()[row]["r"]
    return None if error else sum(costs) / len(costs)


def best(task: int) -> int:
    rows = [row for row in range(len(records())) if task_of(row) == task and cost(row)]
    return min(rows, key=cost)


def failed(rows: range) -> int:
    return sum(cost(row) is None for row in rows)


def counts(table: Locator) -> list[int]:
    """Read the trials of each row of a table of errors."""
    cells = table.locator("tbody td.tvmdbg-tuning-number:nth-child(2)").all_inner_texts()
    return [int(text.replace(",", "")) for text in cells]


@pytest.fixture
def view(page: Page) -> TuningPage:
    return TuningPage(page, log())


def test_first_view_counts_failures_and_lists_slowest_task_first(view: TuningPage) -> None:
    count = failed(range(len(records())))
    head = view.root.locator(".tvmdbg-tuning-head")
    expect(head).to_contain_text(f"{count:,} of {len(records())} trials failed")
    expect(head).to_contain_text("Build starvation")
    rows = view.root.locator(".tvmdbg-tuning-tasks tbody tr")
    expect(rows).to_have_count(len(tasks()))
    slowest = max(range(len(tasks())), key=lambda task: cost(best(task)) or 0)
    assert rows.first.get_attribute("data-task") == str(slowest)
    assert view.told()["trial"] == best(slowest)


def test_tooltip_shows_exact_cost_of_trial(view: TuningPage, page: Page) -> None:
    row = best(2)
    page.mouse.move(*view.place(row))
    tooltip = view.root.locator(".tvmdbg-tooltip")
    told = re.match(r"trial (\d+): ([\d.]+)\s(s|ms|µs)", tooltip.inner_text())
    unit = {"s": 1, "ms": 1e-3, "µs": 1e-6}[told[3]]
    assert int(told[1]) == row
    assert float(told[2]) * unit == pytest.approx(cost(row), rel=1e-3)
    expect(tooltip).to_contain_text(", the best of its task")
    assert len(tooltip.inner_text().splitlines()) == 3
    tip, (x, y) = box_of(tooltip), view.place(row)
    assert not (
        tip["x"] <= x <= tip["x"] + tip["width"] and tip["y"] <= y <= tip["y"] + tip["height"]
    )
    assert view.told()["hovered"] == row


def test_tooltip_of_failed_trial_shows_its_error(view: TuningPage, page: Page) -> None:
    row = next(row for row in range(len(records())) if cost(row) is None)
    page.mouse.move(*view.place(row))
    expect(view.root.locator(".tvmdbg-tooltip")).to_contain_text("BuildTimeoutError")


def test_a_click_shows_the_schedule_of_a_trial(view: TuningPage, page: Page) -> None:
    row = best(1)
    page.mouse.click(*view.place(row))
    expect(view.root.locator(".tvmdbg-tuning-facts")).to_contain_text(f"trial {row}")
    assert view.state("trial") == row
    steps = view.root.locator(".tvmdbg-tuning-steps li")
    expect(steps).to_have_count(len(records()[row]["i"][1][1]))


def test_click_on_task_row_selects_and_clears_task(view: TuningPage) -> None:
    view.root.locator('tr[data-task="3"]').click()
    assert view.state("task") == 3
    told = view.told()
    assert (told["task"], told["trial"]) == (3, best(3))
    view.root.locator('tr[data-task="3"]').click()
    assert view.state("task") is None


def test_dragging_counts_the_trials_of_a_range(view: TuningPage, page: Page) -> None:
    x, y = view.place(64)
    page.mouse.move(x, y)
    page.mouse.down()
    end, _ = view.place(128)
    page.mouse.move((x + end) / 2, y)
    page.mouse.move(end, y)
    page.mouse.up()
    first, last = view.state("trial_range")
    assert (abs(first - 64) <= 1, abs(last - 129) <= 1) == (True, True)
    cells = view.root.locator("td.tvmdbg-tuning-column-trials").all_inner_texts()
    counted = [int(text) for text in cells]
    assert sum(counted) == last - first
    view.press("Escape")
    assert view.state("trial_range") is None


def test_a_bar_of_the_error_strip_marks_its_round(view: TuningPage, page: Page) -> None:
    told = view.told()
    box = box_of(page.locator(".tvmdbg-tuning-base"))
    x = (view.place(64 * 2)[0] + view.place(64 * 3 - 1)[0]) / 2
    y = box["y"] + (told["strip"]["top"] + told["strip"]["bottom"]) / 2
    page.mouse.move(x, y)
    lost = failed(range(128, 192))
    tooltip = view.root.locator(".tvmdbg-tooltip")
    expect(tooltip).to_contain_text("trials 128 to 191")
    expect(tooltip).to_contain_text(f"{lost} of 64 trials failed")
    page.mouse.click(x, y)
    assert view.state("trial_range") == [128, 192]


def test_tuning_view_is_operated_by_keys_alone(view: TuningPage) -> None:
    view.press("ArrowDown")
    task = view.state("task")
    assert task is not None
    view.press("b")
    assert view.told()["trial"] == best(task)
    view.press("Home")
    own = [row for row in range(len(records())) if task_of(row) == task]
    assert view.told()["trial"] == own[0]
    view.press("ArrowRight")
    assert view.told()["trial"] == own[1]
    view.press("End")
    assert view.told()["trial"] == own[-1]
    view.press("e")
    assert cost(view.told()["trial"]) is None
    view.press("x")
    assert view.told()["along"] == "time"
    view.press("x", "w", "w")
    start, end = view.told()["view"]
    assert end - start < len(records())
    view.press("0")
    assert view.told()["view"] == [0, len(records())]
    for key, pane in zip("1234", ("schedule", "tiles", "errors", "findings"), strict=True):
        view.press(key)
        assert view.state("pane") == pane
    view.press("o")
    assert view.state("sort") == "gain"
    view.press("Escape", "Escape")
    assert (view.state("trial"), view.state("task")) == (None, None)


def test_mirror_describes_the_selected_trial(view: TuningPage) -> None:
    view.press("ArrowDown", "b")
    mirror = view.root.locator(".tvmdbg-mirror")
    expect(mirror).to_contain_text(f"task {view.state('task')}: ")
    expect(mirror).to_contain_text("the best of its task")


def test_trials_are_filtered_by_query(view: TuningPage, page: Page) -> None:
    view.press("/")
    page.keyboard.type("error:6")
    page.keyboard.press("Enter")
    count = failed(range(len(records())))
    page.wait_for_function("() => document.querySelector('.tvmdbg-tuning-found').textContent")
    assert view.told()["found"] == count
    assert view.state("query") == "error:6"
    view.set("view", "query", "error:")
    expect(view.root.locator(".tvmdbg-tuning-query")).to_have_attribute("aria-invalid", "true")
    view.set("view", "query", "")
    expect(view.root.locator(".tvmdbg-tuning-found")).to_have_text("")
    assert view.told()["found"] is None


def test_two_schedules_are_compared(view: TuningPage, page: Page) -> None:
    view.root.locator('tr[data-task="2"]').click()
    view.press("p", "ArrowLeft")
    expect(view.root.locator(".tvmdbg-tuning-change")).to_have_count(2)
    expect(view.root.locator(".tvmdbg-tuning-side").first).to_contain_text(
        f"loops of A: trial {best(2)}"
    )
    view.press("p")
    expect(view.root.locator(".tvmdbg-tuning-change")).to_have_count(0)


def test_pinned_schedule_is_marked(view: TuningPage) -> None:
    pin = view.root.locator(".tvmdbg-tuning-facts button")
    expect(pin).to_have_attribute("aria-pressed", "false")
    pin.click()
    expect(pin).to_have_attribute("aria-pressed", "true")
    expect(pin).to_contain_text("select a trial")
    view.press("Escape")
    expect(pin).to_have_attribute("aria-pressed", "false")


def test_legend_counts_outcomes_and_filters_by_one(view: TuningPage) -> None:
    legend = view.root.locator(".tvmdbg-tuning-head .tvmdbg-tuning-legend")
    count = failed(range(len(records())))
    timeouts = legend.get_by_role("button", name=f"{count} BuildTimeoutError")
    timeouts.click()
    assert view.state("query") == "error:6"
    expect(timeouts).to_have_attribute("aria-pressed", "true")
    expect(view.root.locator(".tvmdbg-tuning-found")).to_have_text(
        f"{count} of {len(records())} trials"
    )
    low, high = view.told()["costs"]
    assert low < high
    timeouts.click()
    assert view.state("query") == ""


def test_error_row_filters_trials_and_second_press_clears_filter(
    view: TuningPage, page: Page
) -> None:
    view.press("3")
    errors = view.root.locator(".tvmdbg-tuning-errors")
    row = errors.locator('button[title$="(round=2)"]')
    row.focus()
    page.keyboard.press("Enter")
    expect(view.root.locator(".tvmdbg-tuning-found")).to_contain_text(
        f"64 of {len(records())} trials"
    )
    assert view.told()["found"] == 64
    expect(row).to_have_attribute("aria-pressed", "true")
    expect(row).to_be_focused()
    by_unroll = errors.get_by_role("table", name="errors by unroll")
    expect(by_unroll.locator("caption")).to_have_text("by unroll of the trials that round=2 finds")
    assert sum(counts(by_unroll)) == 64
    by_round = errors.get_by_role("table", name="errors by round")
    expect(by_round.locator("caption")).to_have_text("by round of all trials")
    assert counts(by_round) == [64] * ROUNDS
    page.keyboard.press("Enter")
    expect(view.root.locator(".tvmdbg-tuning-found")).to_have_text("")
    expect(row).to_have_attribute("aria-pressed", "false")
    expect(by_unroll.locator("caption")).to_have_text("by unroll of all trials")


def test_errors_are_counted_within_range_and_task(view: TuningPage) -> None:
    view.press("3")
    view.set("view", "trial_range", [70, 300])
    errors = view.root.locator(".tvmdbg-tuning-errors")
    by_round = errors.get_by_role("table", name="errors by round")
    expect(by_round.locator("caption")).to_have_text("by round of trials 70 to 299")
    assert counts(by_round) == [58, 64, 64, 44]
    view.set("view", "task", 1)
    expect(by_round.locator("caption")).to_have_text("by round of trials 70 to 299 of task 1")
    own = [row for row in range(70, 300) if task_of(row) == 1]
    assert sum(counts(by_round)) == len(own)
    lost = sum(cost(row) is None for row in own)
    assert f"{lost} BuildTimeoutError" in by_round.inner_text() or not lost
    view.set("view", "query", "row<70")
    expect(by_round.locator("caption")).to_contain_text("that row<70 finds; no trials")
    view.set("view", "query", "row<")
    expect(by_round.locator("caption")).to_have_text("by round of trials 70 to 299 of task 1")


def test_tabs_are_chosen_by_arrows(view: TuningPage, page: Page) -> None:
    tab = view.root.get_by_role("tab")
    tab.nth(0).focus()
    for key, at in (
        ("ArrowRight", 1),
        ("End", 3),
        ("ArrowRight", 0),
        ("ArrowLeft", 3),
        ("Home", 0),
    ):
        page.keyboard.press(key)
        expect(tab.nth(at)).to_be_focused()
        expect(tab.nth(at)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowLeft")
    expect(tab.nth(3)).to_be_focused()
    assert view.root.locator('[role="tab"][tabindex="0"]').count() == 1


def test_table_header_sorts_and_keeps_focus(view: TuningPage, page: Page) -> None:
    head = view.root.locator(".tvmdbg-tuning-tasks thead th", has_text="failed")
    head.locator("button").focus()
    page.keyboard.press("Enter")
    assert view.state("sort") == "errors"
    expect(head).to_have_attribute("aria-sort", "descending")
    expect(head.locator("button")).to_be_focused()
    view.root.locator("thead button", has_text="task").click()
    assert view.state("sort") == "task"
    order = [row.get_attribute("data-task") for row in view.root.locator("tbody tr").all()]
    assert order[: len(tasks())] == [str(task) for task in range(len(tasks()))]


def test_sorted_column_stays_visible_in_narrow_view(page: Page) -> None:
    view = TuningPage(page, log(), width=420)
    gain = view.root.locator("thead th", has_text="expected gain")
    view.set("view", "sort", "time")
    expect(view.root.locator("thead th", has_text="best")).to_be_visible()
    view.set("view", "sort", "gain")
    expect(gain).to_be_visible()


def test_parts_are_resized_by_keys_and_by_dragging(view: TuningPage, page: Page) -> None:
    def height() -> float:
        box = box_of(page.locator(".tvmdbg-tuning-above"))
        return box["height"]

    before = height()
    down = view.root.get_by_role("separator", name="Height of the chart")
    down.focus()
    page.keyboard.press("ArrowUp")
    assert height() < before - 10
    drag(page, inside(down, 80, 3), inside(down, 80, 103))
    assert height() > before + 10
    stage = view.root.locator(".tvmdbg-tuning-above > .tvmdbg-stage")
    wide = stage.evaluate("(stage) => stage.clientWidth")
    across = view.root.get_by_role("separator", name="Width of the chart")
    across.focus()
    page.keyboard.press("ArrowRight")
    assert stage.evaluate("(stage) => stage.clientWidth") > wide + 10


def test_loop_nest_colors_follow_theme(view: TuningPage, page: Page) -> None:
    word = view.root.locator(".tvmdbg-tuning-nest b[style]").first
    light = word.get_attribute("style")
    assert light is not None
    page.emulate_media(color_scheme="dark")
    expect(word).not_to_have_attribute("style", light)
    page.emulate_media(color_scheme="light")
    expect(word).to_have_attribute("style", light)


def test_finding_links_to_its_tasks_and_shows_code(view: TuningPage) -> None:
    view.press("4")
    finding = view.root.locator(".tvmdbg-tuning-findings details").first
    code = finding.locator("pre").first
    expect(code).to_contain_text("LocalBuilder(")
    compile(code.inner_text(), "remedy", "exec")
    finding.locator("summary", has_text="evidence").click()
    chip = finding.locator("button", has_text=re.compile(r"^task \d+$")).first
    chip.click()
    assert view.state("task") == int(chip.inner_text().removeprefix("task "))


def test_escape_returns_focus_to_view(view: TuningPage, page: Page) -> None:
    view.root.locator(".tvmdbg-tuning-steps").focus()
    page.keyboard.press("Escape")
    expect(view.root).to_be_focused()


def test_keys_move_through_schedule_steps(view: TuningPage, page: Page) -> None:
    steps = view.root.locator(".tvmdbg-tuning-steps")
    steps.focus()
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    expect(steps.locator(".tvmdbg-tuning-pointed")).to_have_attribute("data-steps", "2")
    lines = view.root.locator(".tvmdbg-tuning-nest .tvmdbg-tuning-lit")
    assert all("2" in (each.get_attribute("data-steps") or "").split() for each in lines.all())


def test_nest_lines_and_their_steps_highlight_one_another(view: TuningPage) -> None:
    line = view.root.locator(".tvmdbg-tuning-nest [data-steps]").nth(1)
    made_by = (line.get_attribute("data-steps") or "").split()
    line.hover()
    steps = view.root.locator(".tvmdbg-tuning-steps .tvmdbg-tuning-lit")
    expect(steps).to_have_count(len(made_by))
    assert [each.get_attribute("data-steps") for each in steps.all()] == made_by
    view.root.locator(f'.tvmdbg-tuning-steps [data-steps="{made_by[0]}"]').hover()
    lines = view.root.locator(".tvmdbg-tuning-nest .tvmdbg-tuning-lit").all()
    assert lines
    assert all(made_by[0] in (each.get_attribute("data-steps") or "").split() for each in lines)


def test_click_in_parallel_coordinates_selects_trial(view: TuningPage, page: Page) -> None:
    view.root.locator('tr[data-task="0"]').click()
    view.press("2")
    stage = view.root.locator(".tvmdbg-tuning-tiles canvas")
    expect(stage).to_be_visible()
    frames(page)
    box = box_of(stage)
    for share in (0.5, 0.4, 0.3, 0.6, 0.7):
        page.mouse.move(box["x"] + box["width"] * share, box["y"] + box["height"] / 2)
        if view.root.get_attribute("data-tile"):
            break
    page.mouse.down()
    page.mouse.up()
    trial = view.state("trial")
    assert trial is not None
    assert task_of(trial) == 0


def test_view_updates_when_log_content_changes(view: TuningPage, page: Page) -> None:
    view.press("ArrowDown")
    task = view.state("task")
    part = lines()[: len(lines()) // 2]
    view.log = open_tuning("".join(part).encode())
    view.set("log", "content", 1)
    expect(view.root.locator(".tvmdbg-tuning-head")).to_contain_text(f"of {len(part)} trials")
    assert view.told()["view"] == [0, len(part)]
    assert view.state("task") == task


def test_refused_lines_are_counted_in_the_header(page: Page) -> None:
    broken = "".join([*lines()[:40], '{"i": 3}\n', *lines()[40:80], "no json\n"])
    view = TuningPage(page, open_tuning(broken.encode()))
    expect(view.root.locator(".tvmdbg-tuning-head")).to_contain_text("2 lines of the log could not")
    view.press("4")
    expect(view.root.locator(".tvmdbg-tuning-findings")).to_contain_text("line 41")


@pytest.mark.parametrize("width", [420, 760, 1400])
def test_bars_tabs_and_task_table_are_not_cut_off(page: Page, width: int) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    view = TuningPage(page, log(), width=width)
    over = view.root.evaluate(
        """(root) => [...root.querySelectorAll(
          ".tvmdbg-bar, .tvmdbg-tuning-head, .tvmdbg-tuning-tabs, .tvmdbg-tuning-tasks"
        )].filter((each) => each.scrollWidth > each.clientWidth + 1)
          .map((each) => each.className)"""
    )
    assert over == []


def test_a_saved_page_shows_the_log_without_a_kernel(page: Page, tmp_path: Path) -> None:
    path = log().save_html(tmp_path / "tuning.html")
    page.goto(path.as_uri())
    page.wait_for_selector(".tvmdbg-tuning[data-ready]")
    root = page.locator(".tvmdbg-tuning")
    expect(root.locator(".tvmdbg-tuning-head")).to_contain_text("trials failed")
    expect(root.locator(".tvmdbg-tuning-nest")).not_to_be_empty()
    root.locator('tr[data-task="1"]').click()
    expect(root.locator(".tvmdbg-tuning-facts")).to_contain_text(f"trial {best(1)}")
    expect(root.locator(".tvmdbg-tuning-query")).to_be_hidden()
    expect(root.locator(".tvmdbg-tuning-legend button")).to_have_count(0)
    expect(root.locator(".tvmdbg-tuning-legend")).to_contain_text("BuildTimeoutError")
    root.focus()
    page.keyboard.press("End")
    expect(root.locator(".tvmdbg-tuning-schedule")).to_contain_text(
        "no schedule of this trial: open its files in a notebook"
    )


SMALL = {"width": 848, "height": 580}


def within(part: Locator, whole: Locator) -> bool:
    inner, outer = box_of(part), box_of(whole)
    return (
        inner["y"] >= outer["y"] - 1
        and inner["y"] + inner["height"] <= outer["y"] + outer["height"] + 1
    )


def test_small_panel_shows_chart_tasks_and_schedule_without_a_scroll(page: Page) -> None:
    view = TuningPage(page, log(), **SMALL)
    rows = view.root.locator(".tvmdbg-tuning-tasks tbody tr")
    assert {round(box_of(row)["height"]) for row in rows.all()} <= set(range(18, 25))
    assert within(rows.last, view.root.locator(".tvmdbg-tuning-tasks"))
    assert view.told()["plot"]["bottom"] - view.told()["plot"]["top"] > 150
    expect(view.root.locator(".tvmdbg-tuning-nest > *").first).to_be_visible()
    assert within(
        view.root.locator(".tvmdbg-tuning-nest > *").nth(5),
        view.root.locator(".tvmdbg-tuning-panes"),
    )


def test_small_panel_shows_the_remedy_before_its_evidence(page: Page) -> None:
    view = TuningPage(page, log(), pane="findings", **SMALL)
    pane = view.root.locator(".tvmdbg-tuning-findings")
    code = pane.locator("pre").first
    expect(code).to_contain_text("LocalBuilder(")
    assert within(code, pane)
    assert within(pane.get_by_role("button", name="copy").first, pane)
    evidence = pane.locator("details details").first
    expect(evidence).not_to_have_attribute("open", "")
    evidence.locator("summary").click()
    expect(evidence.locator("li").first).to_be_visible()


def test_log_without_failures_has_no_lane_and_no_strip_of_them(page: Page) -> None:
    good = [line for row, line in enumerate(lines()) if cost(row)]
    view = TuningPage(page, open_tuning("".join(good).encode()))
    told = view.told()
    assert told["strip"]["top"] == told["strip"]["bottom"]
    assert told["plot"]["bottom"] > box_of(page.locator(".tvmdbg-tuning-base"))["height"] - 40
    expect(view.root.locator('[role="tab"]', has_text="Errors")).to_have_text("Errors")


def test_head_of_weighted_tasks_names_what_they_are_sorted_by(page: Page) -> None:
    weights = [9 - task for task in range(len(tasks()))]
    view = TuningPage(page, open_tuning("".join(lines()).encode(), weights=weights))
    head = view.root.locator(".tvmdbg-tuning-tasks th[aria-sort]")
    expect(head).to_have_text("weight × best")
    rows = view.root.locator(".tvmdbg-tuning-tasks tbody tr").all()
    order = [int(row.get_attribute("data-task") or "") for row in rows]
    times = [weights[task] * (cost(best(task)) or 0) for task in order]
    assert times == sorted(times, reverse=True)


def test_misspelled_field_of_a_filter_is_told(view: TuningPage, page: Page) -> None:
    view.press("/")
    page.keyboard.type("eror:6")
    page.keyboard.press("Enter")
    found = view.root.locator(".tvmdbg-tuning-found")
    expect(found).to_have_text("unknown field 'eror'; did you mean error?")
    assert found.evaluate("node => node.scrollWidth <= node.clientWidth")
    assert view.told()["found"] is None


def test_ring_of_the_task_table_is_whole(view: TuningPage, page: Page) -> None:
    view.root.locator('[data-sort="failed"]').focus()
    table = view.root.locator(".tvmdbg-tuning-tasks")
    table.evaluate("node => { node.tabIndex = 0; node.focus({ focusVisible: true }); }")
    head = table.locator("thead th").first
    assert "inset" in head.evaluate("node => getComputedStyle(node).boxShadow")


def test_weighted_table_fits_a_small_panel(page: Page) -> None:
    weights = [9 - task for task in range(len(tasks()))]
    log_ = open_tuning("".join(lines()).encode(), weights=weights)
    view = TuningPage(page, log_, **SMALL)
    table = view.root.locator(".tvmdbg-tuning-tasks")
    assert table.evaluate("node => node.scrollWidth <= node.clientWidth")
    expect(table.locator("th[aria-sort]")).to_be_visible()
