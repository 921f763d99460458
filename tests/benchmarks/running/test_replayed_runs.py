"""Runs that go on where they were cut off."""

import json
import multiprocessing
import random
import time

import pytest
from scripted_runs import EXPERIMENT, SCRIPT, Script, Square, info, rows, run, timeless

from benchmarks.records.frames import load
from benchmarks.records.run_info import Status
from benchmarks.running.experiment import Budget, Experiment, ExperimentFailed, ReplayMismatch, Spec


def test_an_interrupted_run_continues_to_the_same_table(tmp_path):
    run(EXPERIMENT, tmp_path / "undisturbed")
    Square.evaluated.clear()
    Square.accidents[5] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        run(EXPERIMENT, tmp_path)
    assert len(rows(EXPERIMENT, tmp_path)) == 5
    assert info(EXPERIMENT.folder(tmp_path)).status is Status.RUNNING
    seen = []
    assert run(EXPERIMENT, tmp_path, seen.append) is Status.FINISHED
    assert timeless(EXPERIMENT, tmp_path) == timeless(EXPERIMENT, tmp_path / "undisturbed")
    assert seen == rows(EXPERIMENT, tmp_path)
    starts = info(EXPERIMENT.folder(tmp_path)).starts
    assert [(start.first_trial, start.finished is None) for start in starts] == [(0, True), (5, False)]


@pytest.mark.filterwarnings("ignore:.*dropped the last line")
@pytest.mark.parametrize("kept", [0.0, 0.01, 0.3, 0.5, 0.77, 0.999, 1.0])
def test_a_run_cut_off_anywhere_continues_to_the_same_table(tmp_path, kept):
    Square.accidents[4] = ValueError("no")
    run(EXPERIMENT, tmp_path)
    expected = timeless(EXPERIMENT, tmp_path)
    folder = EXPERIMENT.folder(tmp_path)
    log = (folder / "trials.jsonl").read_bytes()
    (folder / "trials.jsonl").write_bytes(log[: int(kept * len(log))])
    described = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(described | {"status": "running"}))
    before = len(rows(EXPERIMENT, tmp_path))
    Square.evaluated[:] = [None] * before  # so that the accident is at trial 4 again
    assert run(EXPERIMENT, tmp_path) is Status.FINISHED
    assert timeless(EXPERIMENT, tmp_path) == expected


@pytest.mark.parametrize("lost", ["the last row", "all rows", "the log"])
def test_a_finished_run_that_lost_rows_is_finished_again(tmp_path, lost):
    run(EXPERIMENT, tmp_path)
    path = EXPERIMENT.folder(tmp_path) / "trials.jsonl"
    before = timeless(EXPERIMENT, tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    if lost == "the log":
        path.unlink()
    else:
        path.write_bytes(b"".join(lines[:-1] if lost == "the last row" else []))
    assert run(EXPERIMENT, tmp_path) is Status.FINISHED
    assert timeless(EXPERIMENT, tmp_path) == before
    assert info(EXPERIMENT.folder(tmp_path)).n_trials == len(before)
    assert run(EXPERIMENT, tmp_path) is None


def test_what_a_method_recommends_is_recorded_and_records_without_it_go_on(tmp_path, monkeypatch):
    run(EXPERIMENT, tmp_path)
    assert "recommended" not in (EXPERIMENT.folder(tmp_path) / "trials.jsonl").read_text()

    def latest_heavy(script):
        return script.asked // 3 * 3 - 1 if script.asked > 2 else None

    monkeypatch.setattr(Script, "recommend", latest_heavy, raising=False)
    run(EXPERIMENT, tmp_path / "new")
    said = [row.recommended for row in rows(EXPERIMENT, tmp_path / "new")]
    assert said == [None, None, *([2] * 3), *([5] * 3), *([8] * 3), 11]
    assert load(tmp_path / "new")["recommended"].tolist()[2:] == said[2:]

    lines = (EXPERIMENT.folder(tmp_path) / "trials.jsonl").read_text().splitlines(keepends=True)
    old = EXPERIMENT.folder(tmp_path / "old")
    old.mkdir(parents=True)
    (old / "trials.jsonl").write_text("".join(lines[:5]))
    run(EXPERIMENT, tmp_path / "old")
    assert [row.recommended for row in rows(EXPERIMENT, tmp_path / "old")] == [None] * 5 + said[5:]


def test_a_record_that_the_method_no_longer_reproduces_is_not_continued(tmp_path):
    Square.accidents[5] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        run(EXPERIMENT, tmp_path)
    path = EXPERIMENT.folder(tmp_path) / "trials.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    edited = json.loads(lines[3]) | {"config": {"x": 0.125}}
    lines[3] = json.dumps(edited) + "\n"
    path.write_text("".join(lines))
    with pytest.raises(ExperimentFailed, match=r"ReplayMismatch: cannot continue .*asks for \[3, .*0\.125") as caught:
        run(EXPERIMENT, tmp_path)
    assert isinstance(caught.value.__cause__, ReplayMismatch)
    assert path.read_text() == "".join(lines)


class Slow(Square):
    def evaluate(self, config, level, seed):
        time.sleep(0.001)
        return super().evaluate(config, level, seed)


def test_a_process_killed_at_ten_moments_loses_no_trial_and_ends_with_the_same_table(tmp_path):
    experiment = Experiment(Spec("slow", f"{__name__}:Slow"), SCRIPT, 0, Budget(heavy=60))
    moments = random.Random(0)
    before = 0
    for _ in range(10):
        process = multiprocessing.get_context("fork").Process(target=run, args=(experiment, tmp_path))
        process.start()
        deadline = time.monotonic() + 30
        while (recorded := count_rows(tmp_path)) < before + 8 and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(moments.uniform(0.0, 0.003))
        process.kill()
        process.join()
        after = count_rows(tmp_path)
        assert before < recorded <= after < 180
        before = after
    assert run(experiment, tmp_path) is Status.FINISHED
    run(experiment, tmp_path / "undisturbed")
    assert len(rows(experiment, tmp_path)) == 180
    assert timeless(experiment, tmp_path) == timeless(experiment, tmp_path / "undisturbed")


def count_rows(out):
    return sum(path.read_bytes().count(b"\n") for path in out.rglob("trials.jsonl"))
