"""Prints what the rules say of each tuning log of the corpus, and of generated ones.

``TVMDBG_CORPUS=… python -m tests.make.tuning_report`` from the repository's root; ``--markdown``
prints the tables of docs/tuning_rules.md.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tests.conftest import CORPUS, corpus_path
from tests.make.tuning_story import SCENARIOS, story
from tvmdbg_widgets.model.base.numbers import percent
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError
from tvmdbg_widgets.tuning import TuningLog, open_tuning

LOGS = (".json", ".log", ".tmp")


def log_files(corpus: Path) -> list[Path]:
    """The logs of the corpus: what is beside printed states, workload files and notes."""
    found = sorted((corpus / "tuning").glob("*/*"))
    left_out = ("printed_states", "database_workload.json")
    return [
        path
        for path in found
        if path.suffix in LOGS and not any(each in path.parts for each in left_out)
    ]


def cells(name: str, log: TuningLog) -> list[str]:
    trials = log.trials
    lost = float(np.mean(trials.error == MeasureError.BUILD_TIMEOUT)) if len(trials) else 0.0
    failed = float(trials.failed.mean()) if len(trials) else 0.0
    said = [f"{each.rule} ({each.confidence})" for each in log.findings()]
    return [
        name,
        f"{len(trials):,}",
        f"{len(log.tasks):,}",
        percent(failed),
        percent(lost),
        ", ".join(said) or "–",
    ]


def corpus_lines(corpus: Path) -> Iterator[tuple[list[str], TuningLog]]:
    for path in log_files(corpus):
        log = open_tuning(path, progress=False)
        yield cells(f"{path.parent.name}/{path.name}", log), log


def story_lines(kind: str) -> Iterator[tuple[list[str], TuningLog]]:
    for scenario in SCENARIOS:
        log = open_tuning("".join(story(scenario, kind=kind)).encode(), progress=False)
        yield cells(f"{scenario}, {kind}", log), log


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--markdown", action="store_true")
    given = parser.parse_args()
    corpus = corpus_path()
    if corpus is None:
        parser.error(f"set {CORPUS} to the folder of recorded runs")
    heads = ["log", "trials", "tasks", "failed", "build timeouts", "findings"]
    for lines in (corpus_lines(corpus), story_lines("llvm"), story_lines("cuda")):
        if given.markdown:
            print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
        for line, log in lines:
            if given.markdown:
                print(f"| {' | '.join(line)} |")
            else:
                print("=", "  ".join(line[:-1]))
                print(log.findings())
        print()


if __name__ == "__main__":
    main()
