from dataclasses import replace
from typing import Any

import pytest
from unit.tuning.printed_states import dag, read_steps

from tvmdbg_widgets.analysis.tuning.schedules.replaying import replay
from tvmdbg_widgets.analysis.tuning.schedules.schedule import _replayed
from tvmdbg_widgets.analysis.tuning.step_words import step_words

MATMUL_ADD = dag('["matmul_add", 64, 96, 48, "float32"]')

WORDS: dict[str, tuple[list[list[Any]], str, str]] = {
    "AN": ([["AN", 2, 0, 6]], "stage 2 (matmul): bind i to threadIdx.x", "loop 0"),
    "AN 3": ([["AN", 2, 0, 3]], "stage 2 (matmul): run i in parallel", "loop 0"),
    "FU": ([["FU", 2, [0, 1]]], "stage 2 (matmul): fuse i · j into one loop", "loop 0 · loop 1"),
    "FU []": (
        [["FU", 2, []]],
        "stage 2 (matmul): replace its loops by one of extent 1",
        "replace its loops",
    ),
    "PR": (
        [["PR", 2, 0, "auto_unroll_max_step$512"]],
        "stage 2 (matmul): unroll bodies of up to 512 steps (auto_unroll_max_step)",
        "512",
    ),
    "PR skip": (
        [["PR", 2, 0, "debug_skip_region"]],
        "stage 2 (matmul): detach it (debug_skip_region)",
        "detach it",
    ),
    "RE": (
        [["RE", 2, [2, 0, 1]]],
        "stage 2 (matmul): reorder the loops to k, i, j",
        "loop 2, loop 0",
    ),
    "SP": (
        [["SP", 2, 0, 64, [2, 2, 8], 1]],
        "stage 2 (matmul): split i into 4 parts, factors 2 · 2 · 8",
        "stage 2: split loop 0 into 4 parts, factors 2 · 2 · 8",
    ),
    "SP outer": (
        [["SP", 2, 0, 64, [2], 0]],
        "stage 2 (matmul): split i into 2 parts, factor 2, outer parts first",
        "loop 0",
    ),
    "FSP": (
        [["SP", 2, 0, 64, [2, 2, 8], 1], ["FSP", 4, 0, 0, 2]],
        "stage 4 (out): split i into 3 parts, factors 2 · 16, same factors as step 0",
        "stage 4: split loop 0 into 3 parts, same factors as step 0",
    ),
    "FFSP": (
        [["SP", 2, 0, 64, [4], 1], ["SP", 2, 2, 48, [6], 1], ["FFSP", 4, 0, [0, 1], 0, 1]],
        "stage 4 (out): split i in two, inner part 24, the product of level 0 of steps 0 and 1",
        "stage 4: split loop 0 in two, inner part, the product of level 0 of steps 0 and 1",
    ),
    "SA": (
        [["SA", 2, 1, 32, 4]],
        "stage 2 (matmul): align the storage at j to 32 with offset 4",
        "at loop 1 to 32",
    ),
    "CA": (
        [["CA", 2, 4, 1]],
        "stage 2 (matmul): compute it inside j of stage 4 (out)",
        "stage 2: compute it inside loop 1 of stage 4",
    ),
    "CI": ([["CI", 2]], "stage 2 (matmul): inline it where it is read", "stage 2: inline"),
    "CR": (
        [["CR", 2]],
        "stage 2 (matmul): compute it on its own, outside of other stages",
        "stage 2: compute it on its own",
    ),
    "CHR": (
        [["CHR", 0, "shared", [2]]],
        "stage 0 (A): copy it to shared memory in a new stage 1, from which stage 3 (matmul) reads",
        "from which stage 3 reads",
    ),
    "CHW": (
        [["CHW", 2, "local"]],
        (
            "stage 2 (matmul): compute it in a new stage 2 in local memory, from which this one, "
            "now stage 3, copies"
        ),
        "now stage 3",
    ),
    "RF": (
        [["SP", 2, 2, 96, [16], 1], ["RF", 2, 3, 2]],
        (
            "stage 2 (matmul): factor k.1 out of the reduction: axis 2 of a new stage 2, over "
            "which this one, now stage 3, reduces"
        ),
        "factor loop 3 out",
    ),
}


@pytest.mark.parametrize("case", WORDS)
def test_steps_in_words_describe_every_step(case: str) -> None:
    items, words, bare = WORDS[case]
    steps = read_steps(items)
    assert _replayed(MATMUL_ADD, steps).words[-1] == words
    assert bare in step_words(steps[-1])
    assert len(_replayed(None, steps).words) == len(steps)


def test_words_continue_after_a_refused_step() -> None:
    steps = read_steps([["AN", 2, 0, 3], ["AN", 2, 9, 3], ["AN", 2, 1, 2]])
    assert _replayed(MATMUL_ADD, steps).words == (
        "stage 2 (matmul): run i in parallel",
        "stage 2 (matmul): run loop 9 in parallel",
        "stage 2: vectorize loop 1",
    )


def test_products_beyond_any_loop_are_left_out() -> None:
    large = [2**31 - 1] * 900
    steps = read_steps(
        [["SP", 2, 0, 64, large, 1], ["FSP", 2, 0, 0, 3], ["FFSP", 2, 0, [0, 0], 0, 1]]
    )
    state = replay(MATMUL_ADD, steps[:1])
    before = replace(state, steps=steps)
    assert [step_words(step, before).partition(": ")[2] for step in steps[1:]] == [
        "split i.0 into 4 parts, same factors as step 0",
        "split i.0 in two, inner part, the product of level 0 of steps 0 and 0",
    ]


def test_texts_of_a_record_stay_on_one_line() -> None:
    steps = read_steps([["CHW", 2, "lo\ncal"], ["PR", 2, 0, "x\x1b[31m"]])
    assert all(sentence.isprintable() for sentence in _replayed(MATMUL_ADD, steps).words)
    assert all(sentence.isprintable() for sentence in map(step_words, steps))
