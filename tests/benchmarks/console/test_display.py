"""The display: what a row says, time left, few plain lines, and a bounded cost a trial."""

from __future__ import annotations

import io
import math
import time

import pytest

from benchmarks.common.formats import duration, number
from benchmarks.config.spec import Spec
from benchmarks.console.board import Board
from benchmarks.console.display import Plain, open_display
from benchmarks.running.budget import Budget
from benchmarks.running.experiment import Experiment
from benchmarks.running.progress import Failure, Progress, TrainingProgress


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def experiments(methods=("a", "b"), seeds=(0, 1)):
    task = Spec("t", "x")
    return [Experiment(task, Spec(name, "x"), seed, Budget(heavy=4)) for seed in seeds for name in methods]


def test_a_row_sums_its_seeds_and_names_the_best():
    board = Board(experiments(), {}, jobs=1)  # a0, b0, a1, b1
    board.started(0)
    board.progressed(0, Progress(heavy=2, light=4, best=0.5, share=0.5))
    board.progressed(2, Progress(heavy=1, light=2, best=-1.0, share=0.25))
    board.ended(2, Failure(board.experiments[2], "boom"))
    a, b = board.rows()
    assert (a.method, a.seeds, a.done, a.failed) == ("a", 2, 0, 1)
    assert (a.heavy, a.light, a.best, a.best_seed) == (3, 6, -1.0, 1)
    assert (b.method, b.best, b.best_seed, b.left) == ("b", math.inf, None, None)


@pytest.mark.parametrize(("jobs", "left"), [(1, 30.0), (2, 15.0)])
def test_time_left_follows_the_pace_and_the_jobs(jobs, left):
    clock = Clock()
    board = Board(experiments(("a",)), {}, jobs, clock)
    board.started(0)
    board.progressed(0, Progress(share=0.5))
    clock.now += 10.0  # half a seed in 10 s: half a seed and a whole one are left
    assert board.rows()[0].left == pytest.approx(left)


def test_what_was_done_before_counts_as_done_and_not_as_pace():
    board = Board(experiments(("a",)), {0: Progress(4, 0, 0.25, 1.0)}, 1)
    (row,) = board.rows()
    assert (row.done, row.best, row.left) == (1, 0.25, None)
    board.started(1)
    board.ended(1, None)
    assert board.rows()[0].left == 0.0


def test_plain_lines_are_one_at_the_start_and_one_an_experiment():
    stream = io.StringIO()
    todo = experiments()
    with open_display("auto", todo, {0: Progress(4, 8, 0.25, 1.0)}, jobs=1, title="t", stream=stream) as display:
        for index in (1, 2, 3):
            display.started(index)
            for heavy in range(4):
                display.progressed(index, Progress(heavy + 1, 0, 0.5, (heavy + 1) / 4))
            display.ended(index, Failure(todo[index], "ValueError: boom") if index == 3 else None)
    lines = stream.getvalue().splitlines()
    assert lines[0] == "t; 1 of 4 were done before"
    assert lines[1].startswith("[2/4] b, seed 0: best 0.5, 4 heavy and 0 light runs, ")
    assert lines[3] == "[4/4] b, seed 1: FAILED, ValueError: boom"
    assert len(lines) == 4


@pytest.mark.parametrize(("mode", "shared"), [("plain", True), ("live", True), ("plain", False)])
def test_what_another_process_works_on_is_left_to_it_only_where_work_is_shared(mode, shared):
    stream = io.StringIO()
    todo = experiments(("a",))
    with open_display(mode, todo, {}, jobs=1, title="t", shared=shared, stream=stream) as display:
        display.ended(0, Failure(todo[0], "RunLocked: x", locked=True))
        display.ended(1, Failure(todo[1], "boom"))
    text = stream.getvalue()
    assert ("a, seed 0: left to the process that works on it" in text) == shared
    assert ("a, seed 0: FAILED, RunLocked: x" in text) != shared
    assert "a, seed 1: FAILED, boom" in text


def test_what_is_left_to_another_process_is_neither_done_nor_failed():
    board = Board(experiments(("a",)), {}, jobs=1, shared=True)
    board.ended(0, Failure(board.experiments[0], "RunLocked: x", locked=True))
    board.ended(1, Failure(board.experiments[1], "boom"))
    (row,) = board.rows()
    assert (row.done, row.failed, board.n_ended) == (0, 1, 2)


def test_the_live_table_has_a_row_a_method():
    stream = io.StringIO()
    todo = experiments(("random_search", "gp_bo"))
    with open_display("live", todo, {}, jobs=1, title="currin", stream=stream) as display:
        display.started(0)
        display.progressed(0, Progress(3, 6, -13.25, 0.75))
        display.ended(1, Failure(todo[1], "boom"))
    text = stream.getvalue()
    assert "currin" in text and "-13.25" in text and "0/2" in text
    assert "gp_bo, seed 0: FAILED, boom" in text
    assert sum(line.strip().startswith("random_search") for line in text.splitlines()) >= 1


@pytest.mark.parametrize("mode", ["live", "plain"])
def test_a_trial_costs_the_display_little(mode):
    with open_display(mode, experiments(), {}, jobs=1, title="t", stream=io.StringIO()) as display:
        display.started(0)
        progress = Progress(1, 0, 0.5, 0.25)
        started = time.process_time()
        for _ in range(2000):
            display.progressed(0, progress)
        cost = (time.process_time() - started) / 2000
    assert cost < 2e-4


@pytest.mark.parametrize(
    ("value", "text"), [(0.123456789, "0.123457"), (-13.0, "-13"), (math.inf, "–"), (math.nan, "–")]
)
def test_number(value, text):
    assert number(value) == text


@pytest.mark.parametrize(("seconds", "text"), [(None, "–"), (0.0, "0:00:00"), (59.6, "0:01:00"), (3725.0, "1:02:05")])
def test_duration(seconds, text):
    assert duration(seconds) == text


def test_a_training_run_is_shown_with_iteration_error_and_time_left():
    board = Board(experiments(), {}, jobs=2)
    for index in (0, 3):
        board.started(index)
    board.progressed(0, Progress(training=TrainingProgress(3, 50, 0.0213456, 94.0)))
    board.progressed(3, Progress(training=TrainingProgress(1, 10, 0.9, None)))
    assert board.training() == [
        "a, seed 0: iteration 3 of 50, error 0.02135, 0:01:34 left",
        "b, seed 1: iteration 1 of 10, error 0.9",
    ]
    board.progressed(0, Progress(heavy=1))
    board.ended(3, None)
    assert board.training() == []


def test_training_is_part_of_the_live_table():
    stream = io.StringIO()
    with open_display("live", experiments(), {}, jobs=1, title="t", stream=stream) as display:
        display.started(0)
        display.progressed(0, Progress(training=TrainingProgress(3, 50, 0.02, 94.0)))
    assert "a, seed 0: iteration 3 of 50, error 0.02, 0:01:34 left" in stream.getvalue()


def test_long_training_prints_a_line_a_minute_where_there_is_no_terminal():
    clock, stream = Clock(), io.StringIO()
    display = Plain(Board(experiments(), {}, 1, clock), "t", stream)
    display.started(0)
    for _ in range(130):
        clock.now += 1.0
        display.progressed(0, Progress(training=TrainingProgress(3, 50, 0.02, 94.0)))
    assert stream.getvalue() == 2 * "a, seed 0: iteration 3 of 50, error 0.02, 0:01:34 left\n"
