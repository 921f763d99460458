"""btao.running.workers and btao.running.run: several trials at a time, and what ends a run."""

import _thread
import concurrent.futures
import copy
import itertools
import math
import os
import pickle
import signal
import threading
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import pytest

from btao import BTAO, minimize
from btao.running.state_file import StateFile
from optimizer_runs import FREE, LINE, SQUARE, assert_no_repeats, free, loss, names, play

OPTIONS = {"n_init": 2, **FREE}


def light(config):
    return (config["x"] - 0.4) ** 2


def heavy(config):
    return (config["x"] - 0.6) ** 2


OBJECTIVES = {"light": light, "heavy": heavy}


def deadly(config):
    if config["x"] > 0.5:
        os._exit(1)
    return light(config)


class Unloadable:
    """An objective that no other process can load: it ends that process."""

    def __call__(self, config):
        return light(config)

    def __reduce__(self):
        return os._exit, (1,)


class Dying(Executor):
    """As a pool of processes of the caller, which dies with what is under way when it is given a third trial."""

    def __init__(self):
        self.futures = []

    def submit(self, function, config):
        if len(self.futures) == 3:
            raise BrokenProcessPool("a child process terminated abruptly")
        future = Future()
        future.set_running_or_notify_cancel()
        self.futures.append(future)
        if len(self.futures) == 1:
            future.set_result(function(config))
        if len(self.futures) == 3:
            for each in self.futures[1:]:
                each.set_exception(BrokenProcessPool("terminated abruptly"))
        return future


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
    state, one_told, calls = tmp_path / "run.json", threading.Event(), itertools.count(1)

    def interrupted(config):
        if one_told.is_set() and next(calls) == 1:  # before one is told, the error would be the run's own
            raise OSError("the machine is gone")
        time.sleep(0.01)
        return heavy(config)

    def stop(trial):
        if trial.status == "failed":
            raise RuntimeError("stop")
        if trial.level == "heavy":
            one_told.set()

    with pytest.warns(UserWarning, match="failed: OSError") as warned, pytest.raises(RuntimeError, match=r"^stop$"):
        minimize({"light": light, "heavy": interrupted}, LINE, 6, n_jobs=3, state=state, callback=stop, **OPTIONS)
    assert warned[0].filename == __file__
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


@pytest.mark.parametrize("best", [True, False])
def test_ctrl_c_while_a_trial_is_kept_and_again_while_the_run_ends_loses_nothing(tmp_path, monkeypatch, best):
    state, write, numbers, told = tmp_path / "run.json", StateFile.write, [], []
    both = threading.Barrier(2)

    def together(config):
        both.wait(5)  # so that one has ended, too, when the other is told
        return light(config)

    def interrupted(file, optimizer):
        numbers.append(len(optimizer.trials))
        if len(numbers) >= (9 if best else 1):
            time.sleep(0.05)
            _thread.interrupt_main()
        write(file, optimizer)

    monkeypatch.setattr(StateFile, "write", interrupted)
    arguments = {"n_jobs": 2, "state": state, "callback": told.append, **OPTIONS}
    if best:
        with pytest.warns(UserWarning, match="Ctrl-C ended the run"):
            trials = minimize(OBJECTIVES, LINE, 50, **arguments).trials
    else:
        with pytest.raises(KeyboardInterrupt):
            minimize({"light": together, "heavy": heavy}, LINE, 50, **arguments)
        trials = BTAO.from_json(state.read_text()).trials
        assert [trial.status for trial in trials] == ["ok", "ok"]
    ended = [trial for trial in trials if trial.status == "ok"]
    assert [trial for trial in BTAO.from_json(state.read_text()).trials if trial.status == "ok"] == ended
    assert sorted(told, key=lambda trial: trial.number) == ended


@pytest.mark.parametrize("fault", ["objective", "callback"])
def test_the_callback_sees_what_ends_after_an_error(fault):
    both, told = threading.Barrier(2), []

    def together(config):
        both.wait(5)
        if fault == "objective" and config["x"] < 0.5:
            raise NameError("a bug")
        time.sleep(0.05)
        return light(config)

    def callback(trial):
        told.append(trial)
        if fault == "callback":
            raise ValueError(f"a fault at trial {trial.number}")

    design = [{"x": 0.2}, {"x": 0.8}]
    with pytest.raises(NameError if fault == "objective" else ValueError) as caught:
        minimize({"light": together, "heavy": heavy}, LINE, 4, n_jobs=2, callback=callback, design=design, **OPTIONS)
    if fault == "objective":
        assert [(trial.number, trial.value) for trial in told] == [(1, light({"x": 0.8}))]
    else:
        assert str(caught.value) == f"a fault at trial {told[0].number}"
        assert sorted(trial.number for trial in told) == [0, 1]


def test_after_another_run_wrote_to_the_state_one_file_beside_it_has_all_that_has_ended(tmp_path):
    state, both = tmp_path / "run.json", threading.Barrier(2)
    state.write_text(BTAO(LINE, **OPTIONS).to_json())

    def changed(config):
        state.write_text("of another run")
        both.wait(5)
        return light(config)

    with pytest.raises(RuntimeError, match=r"run\.json was written by another run meanwhile, .* is in .*run-2\.json"):
        minimize({"light": changed, "heavy": heavy}, LINE, 4, n_jobs=2, state=state, **OPTIONS)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run-2.json", "run.json"]
    kept = BTAO.from_json((tmp_path / "run-2.json").read_text())
    assert [trial.status for trial in kept.trials] == ["ok", "ok"]
    assert state.read_text() == "of another run"


def test_failed_trials_are_made_again_as_many_at_a_time_as_others_and_until_the_timeout(tmp_path):
    state, gauge = tmp_path / "run.json", Gauge()
    failing = BTAO(LINE, **OPTIONS)
    for _ in range(4):
        failing.tell(failing.ask(), error="out of memory")
    state.write_text(failing.to_json())
    with pytest.raises(RuntimeError, match="the timeout ended the run before one did"):
        minimize({"light": gauge, "heavy": gauge}, LINE, 4, state=state, retry_failed=True, timeout=0, **OPTIONS)
    assert gauge.most == 0 and [trial.status for trial in BTAO.from_json(state.read_text()).trials] == ["failed"] * 4
    objectives = {"light": gauge, "heavy": gauge}
    result = minimize(objectives, LINE, 4, state=state, retry_failed=True, n_jobs=4, **OPTIONS)
    assert 1 < gauge.most <= 4
    all_told(result, 4)
    assert names(result.trials)[:4] == names(failing.trials)


def test_an_error_of_the_objective_waits_for_the_others_and_ends_the_run():
    told = []

    def broken(config):
        raise NameError("a bug")

    with pytest.raises(NameError, match="a bug") as caught:
        minimize({"light": light, "heavy": broken}, LINE, 4, n_jobs=2, callback=told.append, **OPTIONS)
    assert "failed before any heavy trial succeeded" in caught.value.__notes__[0]
    assert {trial.level for trial in told} == {"light"}


def test_ctrl_c_after_an_error_loses_nothing_that_has_ended(tmp_path, monkeypatch):
    state, together = tmp_path / "run.json", threading.Barrier(3)
    waits, ended, release = threading.Event(), threading.Event(), threading.Event()

    def mixed(config):
        together.wait(5)
        if config["x"] == 0.1:
            raise NameError("a bug")
        waits.wait(5)
        if config["x"] == 0.5:
            ended.set()
        else:
            ended.wait(5)
            time.sleep(0.05)
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            release.wait(5)
        return light(config)

    def wait(futures):
        waits.set()
        return concurrent.futures.wait(futures)

    monkeypatch.setattr("btao.running.run.wait", wait)
    design = [{"x": x} for x in (0.1, 0.5, 0.9)]
    with pytest.raises(KeyboardInterrupt) as caught:
        minimize({"light": mixed, "heavy": heavy}, LINE, 4, n_jobs=3, state=state, design=design, **OPTIONS)
    release.set()
    assert isinstance(caught.value.__context__, NameError)
    kept = BTAO.from_json(state.read_text()).trials
    assert [trial.value for trial in kept] == [None, light({"x": 0.5}), None]
    assert [trial.status for trial in kept] == ["pending", "ok", "pending"]


@pytest.mark.parametrize("end", ["timeout", "Ctrl-C", "error"])
def test_an_executor_of_the_caller_begins_nothing_after_the_end(end):
    calls = []

    def slow(config):
        calls.append(config)
        time.sleep(0.6 if end == "timeout" else 0.2)  # well beyond the timeout, also on a busy machine
        if end == "error":
            raise NameError("a bug")
        return light(config)

    def interrupt(trial):
        if end == "Ctrl-C":
            raise KeyboardInterrupt

    with ThreadPoolExecutor(1) as executor:
        kind = {"timeout": RuntimeError, "Ctrl-C": KeyboardInterrupt, "error": NameError}[end]
        options = {"timeout": 0.1 if end == "timeout" else None, "callback": interrupt, **OPTIONS}
        with pytest.raises(kind):
            minimize({"light": slow, "heavy": slow}, LINE, 4, n_jobs=4, executor=executor, **options)
        assert executor.submit(abs, -1).result() == 1  # what waited before it has begun by now
    # The thread begins the second as the first ends, before this is heard of.
    assert len(calls) == 1 if end == "timeout" else len(calls) <= 2


def test_a_trial_under_way_on_dask_is_not_withdrawn():
    class DaskLike(Executor):
        """As Dask's, whose futures are pending until they have ended."""

        __module__ = "distributed.cfexecutor"

        def submit(self, function, *arguments, **options):
            future = Future()
            threading.Timer(1.0, lambda: future.set_result(function(*arguments, **options))).start()
            return future

    told = []
    with pytest.raises(RuntimeError, match="the timeout ended the run"):
        minimize(OBJECTIVES, LINE, 4, n_jobs=3, executor=DaskLike(), timeout=0.5, callback=told.append, **OPTIONS)
    assert sorted(trial.number for trial in told) == [0, 1, 2]


def test_a_timeout_of_any_length_is_waited_for():
    all_told(minimize(OBJECTIVES, LINE, 3, n_jobs=2, timeout=1e300, **OPTIONS), 3)


def test_a_process_that_dies_of_a_trial_is_noted_and_the_next_call_goes_on_elsewhere(tmp_path):
    state, told = tmp_path / "run.json", []
    arguments = {"state": state, "design": [{"x": 0.2}, {"x": 0.8}, {"x": 0.4}, {"x": 0.1}], **OPTIONS}
    with pytest.raises(BrokenProcessPool) as caught:
        minimize({"light": deadly, "heavy": deadly}, LINE, 3, executor="processes", callback=told.append, **arguments)
    (note,) = caught.value.__notes__
    assert "with these under way: light trial 1 at {'x': 0.8}; " in note
    assert f"{state} keeps them as failed: the same call goes on without them" in note
    assert [(trial.number, trial.status) for trial in told] == [(0, "ok"), (1, "failed")]
    kept = BTAO.from_json(state.read_text()).trials
    assert kept == told and kept[1].error == "BrokenProcessPool: a process died while this ran"

    calls = []
    objectives = {level: lambda config, f=f: calls.append(config["x"]) or f(config) for level, f in OBJECTIVES.items()}
    assert minimize(objectives, LINE, 3, **arguments).trials[1] == kept[1] and 0.8 not in calls
    calls.clear()
    retried = minimize(objectives, LINE, 3, retry_failed=True, **arguments)
    assert calls[0] == 0.8 and retried.trials[1].value == light({"x": 0.8})


def test_all_trials_on_the_pool_of_a_process_that_dies_are_failed_ones_and_the_others_are_not(tmp_path):
    state = tmp_path / "run.json"
    with pytest.raises(BrokenProcessPool) as caught:
        minimize(OBJECTIVES, LINE, 3, n_jobs=4, executor=Dying(), state=state, **OPTIONS)
    kept = BTAO.from_json(state.read_text()).trials
    assert [trial.status for trial in kept] == ["ok", "failed", "failed", "pending"]
    named = "; ".join(f"light trial {trial.number} at {trial.config}" for trial in kept[1:3])
    assert f"with these under way: {named}; {state} keeps" in caught.value.__notes__[0]
    with pytest.raises(BrokenProcessPool) as caught:
        minimize(OBJECTIVES, LINE, 3, n_jobs=4, executor=Dying(), **OPTIONS)
    assert caught.value.__notes__[0].endswith("; give state=, a file, to go on after this")


def test_an_objective_that_processes_cannot_load_makes_no_trial_a_failed_one(tmp_path):
    state, objectives = tmp_path / "run.json", {"light": Unloadable(), "heavy": heavy}
    with pytest.raises(BrokenProcessPool) as caught:
        minimize(objectives, LINE, 3, executor="processes", state=state, **OPTIONS)
    assert not state.exists()
    (note,) = caught.value.__notes__
    assert note.startswith("New processes cannot load the objective: it must be importable there")


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
    optimizer = BTAO(SQUARE, n_init=2, seed=3, **free(rule))
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
