"""The closing table: its numbers are those on record, and it fits a terminal."""

from __future__ import annotations

import dataclasses
import io
import math

import pandas
import pytest
from currin_runs import experiment, record

from benchmarks.config.spec import Spec
from benchmarks.console.summary import print_failures, print_outputs, print_table, table
from benchmarks.records.run_folder import OUTPUT
from benchmarks.records.trials import TrialLog
from benchmarks.running.progress import Failure
from benchmarks.studies.execution import trials


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def out(tmp_path):
    return record(tmp_path)


def rows(experiment, out):
    with TrialLog(experiment.folder(out)) as log:
        return log.rows


def test_the_table_shows_what_is_on_record(out):
    planned = [experiment(seed) for seed in range(3)]
    head, (cells,) = table(trials(planned, out), planned)
    shown = dict(zip(head, cells, strict=True))
    recorded = [rows(each, out) for each in planned[:2]]
    mean = sum(min(row.value for row in run) for run in recorded) / 2
    assert shown["method"] == "random_search"
    assert shown["n seeds"] == "2/3"
    assert shown["best, minimized [range]"].split()[0] == f"{mean:.6g}"
    assert float(shown["simple regret [range]"].split()[0]) == pytest.approx(mean + 13.7987220447285, rel=1e-5)
    assert (shown["heavy runs"], shown["light runs"]) == ("6", "0")
    seconds = sum(row.method_seconds for run in recorded for row in run)
    assert float(shown["method s"]) == pytest.approx(seconds, abs=0.006)
    assert "failed runs" not in head


def test_one_seed_has_no_interval_and_failed_runs_are_shown_if_any(out):
    one = trials([experiment(0)], out)
    one.loc[0, ["value", "truth"]], one.loc[0, "status"] = math.nan, "failed"
    head, (cells,) = table(one, [experiment(0)])
    shown = dict(zip(head, cells, strict=True))
    assert shown["failed runs"] == "1"
    assert "[" not in shown["best, minimized [95% interval]"]


def test_a_method_of_which_no_run_finished_has_a_row(out):
    other = dataclasses.replace(experiment(0), method=Spec("gp_bo", "baselines.gp_bo.GPBO"))
    head, (_, cells) = table(trials([experiment(0)], out), [experiment(0), other])
    assert cells == ["gp_bo", "0/1"] + ["–"] * (len(head) - 2)


@pytest.mark.parametrize(
    ("seeds", "name"),
    [((2, 4), "range"), ((5, 9), "95% interval"), ((2, 5), "95% interval, or the range of fewer than 5 seeds")],
)
def test_the_head_says_what_the_brackets_hold(seeds, name):
    frame = pandas.concat(
        [
            pandas.DataFrame(
                {"task": "t", "method": method, "seed": range(n), "hash": method, "data": None, "optimum": math.nan}
                | {"trial": 0, "heavy": True, "budget": 1, "value": [float(k) for k in range(n)], "status": "ok"}
                | {
                    "error": None,
                    "iterations": 1,
                    "train_seconds": 0.0,
                    "method_seconds": 0.0,
                    "time": 0.0,
                    "truth": math.nan,
                }
            )
            for method, n in zip("ab", seeds, strict=True)
        ]
    )
    planned = [dataclasses.replace(experiment(0), method=Spec(name, "x.Y")) for name in "ab"]
    assert table(frame, planned)[0][2] == f"best, minimized [{name}]"


def test_plain_columns_are_aligned():
    stream = io.StringIO()
    print_table(["method", "n"], [["a", "10"], ["longer", "9"]], "title", stream)
    assert stream.getvalue() == "title\nmethod   n\na       10\nlonger   9\n"


def test_nothing_is_cut_off_in_a_terminal_of_80_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")
    head = ["method", "n seeds", "best, minimized [95% interval]", "simple regret [95% interval]"]
    head += ["heavy runs", "light runs", "training s", "method s"]
    cells = ["random_search", "10/10", "-13.7987 [-13.8, -13.79]", "4.13157e-07 [7.906e-10, 8.255e-07]"]
    cells += ["1000", "2000", "12345.67", "1234.56"]
    stream = Terminal()
    print_table(head, [cells], "title", stream)
    assert "…" not in stream.getvalue()
    for word in " ".join(cells).split():
        assert word in stream.getvalue()


@pytest.mark.parametrize(
    ("n", "line"),
    [
        (0, ""),
        (1, "1 run wrote output of its own, see {0}\n"),
        (4, "4 runs wrote output of their own, see {0}, {1}, {2}, …\n"),
    ],
)
def test_runs_that_printed_are_named_in_one_line(tmp_path, n, line):
    folders = [tmp_path / str(number) for number in range(6)]
    for number, folder in enumerate(folders[:5]):
        folder.mkdir()
        (folder / OUTPUT).write_text("warning" if number < n else "")
    stream = io.StringIO()
    print_outputs(folders, stream)
    assert stream.getvalue() == line.format(*(folder / OUTPUT for folder in folders))


def test_failures_are_listed_with_their_files(tmp_path):
    stream = io.StringIO()
    print_failures([Failure(experiment(3), "ValueError: boom", tmp_path), Failure(experiment(4), "locked")], stream)
    assert stream.getvalue().splitlines() == [
        "2 experiments failed:",
        "  currin, random_search, seed 3: ValueError: boom",
        f"    {tmp_path}",
        "  currin, random_search, seed 4: locked",
    ]


def test_the_test_error_stands_beside_the_best_value_where_it_was_measured(out):
    planned = [experiment(seed) for seed in range(2)]
    recorded = trials(planned, out)
    assert not any("test error" in name for name in table(recorded, planned)[0])
    head, (cells,) = table(recorded.assign(test_error=0.25), planned)
    assert dict(zip(head, cells, strict=True))["test error [range]"] == "0.25 [0.25, 0.25]"
