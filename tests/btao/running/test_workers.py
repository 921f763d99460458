"""btao.running.workers and btao.running.run: several trials at a time, and what ends a run."""

import _thread
import copy
import math
import pickle
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from btao import BTAO, minimize
from optimizer_runs import FREE, LINE, SQUARE, assert_no_repeats, loss, names, play

OPTIONS = {"n_init": 2, **FREE}


def light(config):
    return (config["x"] - 0.4) ** 2


def heavy(config):
    return (config["x"] - 0.6) ** 2


OBJECTIVES = {"light": light, "heavy": heavy}


class Gauge:
    """An objective that counts how many of it run at a time."""

    def __init__(self):
        self.now = self.most = 0
        self.lock = threading.Lock()

    def __call__(self, config):
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        time.sleep(0.02)
        with self.lock:
            self.now -= 1
        return light(config)


def all_told(result, n_heavy):
    assert {trial.status for trial in result.trials} == {"ok"}
    assert sum(trial.level == "heavy" for trial in result.trials) == n_heavy
    assert [trial.number for trial in result.trials] == list(range(len(result.trials)))
    assert_no_repeats(LINE, result.trials)
    assert result.value == min(trial.value for trial in result.trials if trial.level == "heavy")


def test_threads_run_several_trials_at_a_time_none_twice_and_none_lost():
    gauge = Gauge()
    result = minimize({"light": gauge, "heavy": gauge}, LINE, 8, n_jobs=4, **OPTIONS)
    all_told(result, 8)
    assert 1 < gauge.most <= 4


def test_processes_and_executors_of_the_caller_do_alike():
    all_told(minimize(OBJECTIVES, LINE, 3, n_jobs=2, executor="processes", **OPTIONS), 3)
    with ThreadPoolExecutor(2) as executor:
        all_told(minimize(OBJECTIVES, LINE, 3, n_jobs=2, executor=executor, **OPTIONS), 3)
        assert executor.submit(abs, -1).result() == 1  # it is left open


def test_one_job_on_an_executor_asks_what_no_executor_asks():
    plain = minimize(OBJECTIVES, LINE, 4, **OPTIONS)
    assert names(minimize(OBJECTIVES, LINE, 4, executor="threads", **OPTIONS).trials) == names(plain.trials)


def test_a_run_of_several_jobs_goes_on_with_trials_that_were_under_way(tmp_path):
    state, calls = tmp_path / "run.json", []

    def interrupted(config):
        calls.append(config)
        if len(calls) == 3:
            raise OSError("the machine is gone")
        time.sleep(0.01)
        return heavy(config)

    def stop(trial):
        if trial.status == "failed":
            raise RuntimeError("stop")

    with pytest.warns(UserWarning, match="failed: OSError"), pytest.raises(RuntimeError, match=r"^stop$"):
        minimize({"light": light, "heavy": interrupted}, LINE, 6, n_jobs=3, state=state, callback=stop, **OPTIONS)
    kept = BTAO.from_json(state.read_text())
    assert [trial.status for trial in kept.trials].count("failed") == 1 and kept.pending == []
    result = minimize(OBJECTIVES, LINE, 6, n_jobs=3, state=state, **OPTIONS)
    assert sum(trial.level == "heavy" for trial in result.trials) == 6
    assert not [trial for trial in result.trials if trial.status == "pending"]


def test_ctrl_c_returns_what_there_is(tmp_path):
    release, state = threading.Event(), tmp_path / "run.json"
    n_ended = 0

    def slow(config):
        if n_ended >= 9:
            release.wait(5)
        return heavy(config)

    def interrupt(trial):
        nonlocal n_ended
        n_ended += 1
        if n_ended == 9:
            _thread.interrupt_main()

    with pytest.warns(UserWarning, match="Ctrl-C ended the run: this is the best that there is"):
        result = minimize(
            {"light": light, "heavy": slow}, LINE, 50, n_jobs=2, state=state, callback=interrupt, **OPTIONS
        )
    release.set()
    assert result.value == min(t.value for t in result.trials if t.level == "heavy" and t.status == "ok")
    assert sum(trial.status == "ok" for trial in result.trials) >= 9


def test_an_error_of_the_objective_waits_for_the_others_and_ends_the_run():
    told = []

    def broken(config):
        raise NameError("a bug")

    with pytest.raises(NameError, match="a bug") as caught:
        minimize({"light": light, "heavy": broken}, LINE, 4, n_jobs=2, callback=told.append, **OPTIONS)
    assert "failed before any heavy trial succeeded" in caught.value.__notes__[0]
    assert {trial.level for trial in told} == {"light"}


def test_a_timeout_begins_no_trial_and_changes_no_proposal():
    def slow(config):
        time.sleep(0.02)
        return heavy(config)

    result = minimize({"light": light, "heavy": slow}, LINE, 10_000, timeout=0.5, **OPTIONS)
    assert 2 <= sum(trial.level == "heavy" for trial in result.trials) < 26
    n = min(len(result.trials), 12)
    assert names(result.trials[:n]) == names(minimize(OBJECTIVES, LINE, 4, **OPTIONS).trials[:n])
    with pytest.raises(RuntimeError, match="no heavy trial succeeded; the timeout ended the run before one did"):
        minimize(OBJECTIVES, LINE, 2, timeout=0, **OPTIONS)


@pytest.mark.parametrize(("direction", "sign"), [("minimize", 1), ("maximize", -1)])
def test_a_target_ends_the_run(direction, sign):
    objectives = {level: lambda config, f=f: sign * f(config) for level, f in OBJECTIVES.items()}
    result = minimize(objectives, LINE, 40, target=sign * 0.01, direction=direction, **OPTIONS)
    good = [sign * trial.value <= 0.01 for trial in result.trials if trial.level == "heavy"]
    assert good[-1] and sum(good) == 1 and len(good) < 40


def test_progress_is_a_line_a_trial_in_stderr(capsys):
    result = minimize(OBJECTIVES, LINE, 2, progress=True, **OPTIONS)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(result.trials) == 6
    assert lines[0].startswith("light 0: ") and lines[0].endswith("· heavy 0/2 · best none yet")
    assert lines[-1].endswith(f"· heavy 2/2 · best {result.value:.6g}")


def test_four_threads_ask_and_tell_two_hundred_trials():
    optimizer, errors = BTAO(LINE, n_init=4, seed=1, **FREE), []

    def work():
        try:
            for _ in range(50):
                trial = optimizer.ask()
                # Few results: fits of many would take most of the time.
                optimizer.tell(trial, math.nan if trial.number >= 12 else loss(trial.config, trial.level))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert [trial.number for trial in optimizer.trials] == list(range(200)) and optimizer.pending == []
    assert_no_repeats(LINE, optimizer.trials)


@pytest.mark.parametrize("rule", ["joint", "paper", "rate"])
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda optimizer: pickle.loads(pickle.dumps(optimizer))])
def test_a_copy_goes_on_alike_and_apart(rule, copied):
    optimizer = BTAO(SQUARE, rule=rule, n_init=2, seed=3, **FREE)
    play(optimizer, 7)
    optimizer.enqueue({"x": 0.5, "y": 2.0})
    optimizer.ask()
    other = copied(optimizer)
    assert names(play(other, 4)) == names(play(optimizer, 4))
    assert other.to_json() == optimizer.to_json()
    other.ask()
    assert len(optimizer.trials) == len(other.trials) - 1


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"n_jobs": 0}, ValueError, "n_jobs must be an integer of at least 1, got 0"),
        ({"executor": "fibers"}, ValueError, r"executor must be one of \('threads', 'processes'\) or an executor"),
        ({"executor": 3}, TypeError, r"executor must be one of .* or a concurrent.futures.Executor, got 3"),
        ({"timeout": -1}, ValueError, "timeout must be None or a finite number of at least 0, got -1"),
        ({"timeout": "1 h"}, ValueError, "timeout must be None or a finite number of at least 0, got '1 h'"),
        ({"target": math.nan}, ValueError, "target must be None or a finite number, got nan"),
    ],
)
def test_wrong_arguments_are_refused_before_any_trial(options, kind, message):
    def never(config):
        raise AssertionError

    with pytest.raises(kind, match=message):
        minimize({"light": never, "heavy": never}, LINE, 2, **OPTIONS, **options)
