"""Reference results: the committed records behind the notebooks and the claims, and how they are made anew.

`python -m benchmarks.reference` makes the usual ones, or those named. The results are identical with the same versions
on any x86-64 processor with AVX2, but for the columns of seconds.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import os
import shlex
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.analysis.variants import commands as ablation_commands
from benchmarks.common.environment import environment, portably
from benchmarks.common.errors import UsageError
from benchmarks.config.options import with_values
from benchmarks.config.registry import ROOT, TABLES, find_table, is_grid
from benchmarks.records.unfinished import Run, Unfinished
from benchmarks.studies import verification
from benchmarks.studies.verification import RECORDED
from btao.running.files import replacing

# pandas, matplotlib and what runs experiments are imported when used: --help starts at once.
if TYPE_CHECKING:
    import pandas

    from benchmarks.records.command import Command
    from benchmarks.running.experiment import Experiment
    from benchmarks.running.plan import Plan

FOLDER = ROOT / "results" / "reference"

METHODS = "method=[random_search,tpe,gp_bo,gp_ei,smac,smac_gp,bohb,hyperband,btao_paper,btao_joint,btao]"

# The commands of `benchmarks.run` behind each, less out; of a task that has a grid see `commands`.
COMMANDS = {
    "toy": [["task=toy", "method=btao_joint", "seeds=30"]],
    "synthetic": [["-m", "task=currin,park", METHODS, "seeds=30"]],
    **{task: [[f"task={task}", "source=table", METHODS, "seeds=30"]] for task in RECORDED},
    "ablation": [
        [*command, "seeds=30"]
        for command in (
            *ablation_commands(["task=currin,park", "budget.heavy=12"], "truncated"),
            *ablation_commands([f"task={','.join(RECORDED)}", "source=table", "budget.heavy=12"], "untruncated"),
        )
    ],
    **verification.COMMANDS,
}
# The commands of `benchmarks.profile` behind another, less out.
PROFILE = [
    ["task=toy", "budget.heavy=10", "seeds=30"],
    ["task=currin", "budget.heavy=16", "seeds=30"],
    ["task=park", "budget.heavy=12", "seeds=30"],
    *(["task=" + task, "source=table", "budget.heavy=12", "seeds=30"] for task in RECORDED),
]
NAMES = (*COMMANDS, "profile")
USUAL = tuple(name for name in NAMES if name not in verification.BY_NAME)  # what is made where nothing is named
# What is changed to try the notebooks: two seeds, of the methods that start at once, and a heavy run or two beyond the
# start where the scale is not to be chosen.
QUICK = {"method": "[random_search,gp_bo,btao_paper,btao_joint,btao]"}
SMALL = {
    "toy": {"scale": "smoke"},
    "synthetic": {"scale": "smoke", **QUICK},
    **{task: {"budget.heavy": "7", **QUICK} for task in RECORDED},
    "ablation": {},
    "profile": {"budget.heavy": "7", "points": "64"},
    **verification.SMALL,
}
SMALL_HEAVY_RUNS = 10  # of random search, of which the small runs on a grid have the seconds
SMALL_ABLATION = ablation_commands(
    ["task=currin", "budget.heavy=6"], "truncated", {"light_per_heavy": (2, 4), "start": ("random",)}
)


def load(
    name: str,
    *,
    folder: str | Path | None = None,
    methods: Sequence[str] | None = None,
    seeds: int | Sequence[int] | None = None,
) -> pandas.DataFrame:
    """A reference result: trials as `records.load` gives them, but for "profile", which `benchmarks.profile` describes.

    Those of `verification` are as `verification.slim` leaves them.

    `folder` is where it lies, by default `FOLDER`; `methods` and `seeds` are those that are wanted, by default all, as
    `records.selection.selected` takes them.

    With the environment variable BTAO_SCALE=smoke it is not read but made now, as small as `SMALL`
    says, with two seeds: so the notebooks can be tested without the committed results.

    Raises
    ------
    ValueError
        If there is no such result, method or seed, or BTAO_SCALE is another.
    FileNotFoundError
        If it was not committed or, to be made now, lacks the recorded table that it needs.
    RuntimeError
        If a run made now fails.
    """
    from benchmarks.records.selection import selected

    return selected(_load(name, Path(folder or FOLDER)), methods, seeds)


def _load(name: str, folder: Path) -> pandas.DataFrame:
    import pandas

    if _is_small(name):
        if not there(name):
            raise FileNotFoundError(f"the recorded table that {name} replays is missing in {TABLES}")
        with tempfile.TemporaryDirectory() as out:
            return _make(name, commands(name, small=True), Path(out))
    path = folder / f"{name}.parquet"
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing: `python -m benchmarks.reference {name}` makes it")
    return pandas.read_parquet(path)


def settings(name: str) -> dict[str, dict[str, Any]]:
    """By task what all runs of a result have in common, see `RunInfo.shared`: as its commands ask for it now.

    A task is left out whose recorded table or data set is not on this machine: nothing is downloaded to read a result.
    """
    from benchmarks.config.request import read
    from benchmarks.running.plan import plan

    shared: dict[str, dict[str, Any]] = {}
    for command in commands(name, small=_is_small(name)):
        requests = read(command)
        for request in (each for each in requests if each.task["name"] not in shared):
            offline = environment({"BTAO_OFFLINE": "1", "BTAO_NOTICE": "0"})
            with tempfile.TemporaryDirectory() as out, offline, contextlib.suppress(UsageError):
                # Methods and seeds are no part of what is shared: one of each is built.
                one = dict(list(request.methods.items())[:1])
                made = plan(dataclasses.replace(request, methods=one, seeds=request.seeds[:1], out=Path(out)))
                shared[request.task["name"]] = made.experiments[0].shared
    return shared


def there(name: str, folder: str | Path | None = None) -> bool:
    """Whether `load` can give a result: it is committed or, to be made now, has the recorded tables that it needs."""
    if _is_small(name):
        replays = [command for command in _listed(name, small=True) if "source=table" in command]
        return all(any(TABLES.glob(f"{task}-*.parquet")) for command in replays for task in _tasks(command))
    return (Path(folder or FOLDER) / f"{name}.parquet").exists()


def record(name: str, out: Path) -> Path:
    """Run what is unfinished of a reference result below `out`; write its Parquet file and figure.

    Of those of `verification`, which take hours, the tasks that are done are in `FOLDER`/unfinished, too, and are not
    run again where they are not below `out`.
    """
    unfinished = Unfinished(FOLDER / "unfinished" / name) if name in verification.COMMANDS else None
    frame = _make(name, commands(name), out, unfinished)
    path = FOLDER / f"{name}.parquet"
    with replacing(path) as temporary:
        frame.to_parquet(temporary, index=False, compression="zstd")
    portably(_draw, name, frame, path.with_suffix(".png"))  # so that the numbers beside the figure are the same, too
    if unfinished is not None:
        unfinished.remove()
    return path


def sha256(frame: pandas.DataFrame) -> str:
    """SHA-256 of a result as CSV, but for the columns of seconds: what a notebook drew."""
    timeless = frame.drop(columns=["train_seconds", "method_seconds", "time"], errors="ignore")
    return hashlib.sha256(timeless.to_csv(index=False).encode()).hexdigest()


def _is_small(name: str) -> bool:
    """Whether results are made now, from the environment variable BTAO_SCALE."""
    check(name)
    scale = os.environ.get("BTAO_SCALE")
    if scale not in (None, "", "smoke"):
        raise ValueError(f"BTAO_SCALE must be smoke or not set, got {scale!r}")
    return bool(scale)


def _draw(name: str, frame: pandas.DataFrame, path: Path) -> None:
    from benchmarks.analysis.incumbents import incumbents
    from benchmarks.analysis.ladder.worth import changes, ladder
    from benchmarks.analysis.over_time import ranks_over_time
    from benchmarks.figures import ablation as ablation_plots
    from benchmarks.figures import across_tasks as across_plots
    from benchmarks.figures import curves as plots
    from benchmarks.figures import prediction as profile_plots
    from benchmarks.figures import ratios as ratio_plots

    if name == "profile":
        profile_plots.accuracy_figure(frame, path=path)
    elif name == "ablation":
        ablation_plots.effects_figure(frame, path=path)
    elif name == "ladder":
        ratio_plots.ladder_figure(ladder(changes(frame)), path=path)
    elif name in verification.COMMANDS:  # of many tasks: curves of each would be too much to look at
        tasks = frame[~frame["task"].isin(verification.MISLED)]  # each function once
        across_plots.rank_figure(ranks_over_time(incumbents(tasks)), first=verification.FIRST, path=path)
    else:
        plots.figure_run(frame, path)


def commands(name: str, *, small: bool = False) -> list[list[str]]:
    """The commands behind a result, of `benchmarks.profile` for "profile", else of `benchmarks.run`, less out.

    On a recorded task that has a grid all runs end after equal seconds of training, which its table tells
    (`equal_seconds`), so that the curves of all methods span one axis with all their seeds.
    """
    if name == "ladder":
        return _by_seconds(_listed(name, small))
    if name not in RECORDED or not _has_grid(name):
        return _listed(name, small)
    from benchmarks.studies.equal_seconds import HEAVY_RUNS, SEEDS, budget

    replay = [f"task={name}", "source=table"]
    if small:
        quick = f"method={QUICK['method']}"
        return [[*replay, quick, "seeds=2", budget(replay, SMALL_HEAVY_RUNS, 2), "jobs=1"]]
    # Seconds do not tell SMAC how many trials its start is to be a quarter of.
    trials = [f"methods.{method}.n_trials={HEAVY_RUNS}" for method in ("smac", "smac_gp")]
    return [[*replay, METHODS, *trials, f"seeds={SEEDS}", budget(replay, HEAVY_RUNS, SEEDS)]]


def _by_seconds(listed: list[list[str]]) -> list[list[str]]:
    """Commands with the budget of seconds in place of their own where they replay a grid."""
    from benchmarks.studies.equal_seconds import HEAVY_RUNS, SEEDS, budget

    replayed = {task for command in listed if "source=table" in command for task in _tasks(command)}
    ends = {task: budget([f"task={task}", "source=table"], HEAVY_RUNS, SEEDS) for task in replayed if _has_grid(task)}
    own = verification.TABLE_BUDGET
    return [[ends.get(_tasks(each)[0], own) if word == own else word for word in each] for each in listed]


def _listed(name: str, small: bool) -> list[list[str]]:
    """The commands that are the same whatever table a task has."""
    if not small:
        return PROFILE if name == "profile" else COMMANDS[name]
    whole = (
        SMALL_ABLATION if name == "ablation" else _listed(name, small=False)[: verification.SMALL_COMMANDS.get(name)]
    )
    jobs = {} if name == "profile" else {"jobs": "1"}  # another worker takes longer to start than these runs take
    return [with_values(command, {**SMALL[name], **jobs, "seeds": "2"}) for command in whole]


def _has_grid(task: str) -> bool:
    """Whether the table of a recorded task is that of a grid."""
    try:
        return is_grid(find_table(task, None, None, TABLES))
    except UsageError:  # there is none, or several: the command says so
        return False


def _tasks(command: Sequence[str]) -> list[str]:
    (task,) = [word.removeprefix("task=") for word in command if word.startswith("task=")]
    return task.split(",")


def _make(
    name: str, commands: Sequence[Sequence[str]], out: Path, unfinished: Unfinished | None = None
) -> pandas.DataFrame:
    return _profile(commands) if name == "profile" else _run(name, commands, out, unfinished)


def _profile(commands: Sequence[Sequence[str]]) -> pandas.DataFrame:
    import pandas

    from benchmarks.studies.model_accuracy import portable_study, read_arguments

    parts = []
    for command in commands:
        _, points, arguments = read_arguments(command)
        parts.append(portable_study(arguments, points))
        print(f"{len(parts[-1])} rows of the profile: {shlex.join(command)}")
    return pandas.concat(parts, ignore_index=True)


def _run(
    name: str, commands: Sequence[Sequence[str]], out: Path, unfinished: Unfinished | None = None
) -> pandas.DataFrame:
    from benchmarks import records
    from benchmarks.config.request import read
    from benchmarks.records.command import RUN_MODULE, Command
    from benchmarks.running.plan import plan as checked
    from benchmarks.studies.execution import execute

    experiments: list[Experiment] = []
    for command in commands:
        arguments = [*command, f"out={out}", "display=plain"]
        plans = [checked(request) for request in read(arguments)]
        experiments += [experiment for plan in plans for experiment in plan.experiments]
        started = Command(RUN_MODULE, tuple(arguments), tuple(plan.job for plan in plans))
        if unfinished is None:
            well = execute(plans, started)
        else:
            well = all(_go_on(plan, started, unfinished) for plan in plans)
        if not well:
            raise RuntimeError(f"a run of the reference {name!r} failed; it says why above")
    if unfinished is not None:
        return unfinished.of(_runs(experiments))
    trials = records.load(out, strict=True)
    return verification.slim(trials) if name in verification.COMMANDS else trials


def _go_on(plan: Plan, started: Command, unfinished: Unfinished) -> bool:
    """Run what is not there of a plan, and keep it; False where a run fails."""
    from benchmarks.studies.execution import execute, trials

    if plan.skipped:
        raise RuntimeError(f"a reference result is of all its methods: {'; '.join(plan.skipped)}")
    left = unfinished.missing(_runs(plan.experiments))
    if there := len(plan.experiments) - len(left):
        print(f"{there} of {len(plan.experiments)} runs are in {unfinished.folder}: {plan.title}")
    if not left:
        return True
    part = plan.only(left)
    if not execute([part], started):
        return False
    unfinished.add(verification.slim(trials(part.experiments, plan.request.out)))
    return True


def _runs(experiments: Sequence[Experiment]) -> list[Run]:
    return [(each.task.name, each.hash, each.seed) for each in experiments]


def check(name: str) -> None:
    """Refuse a name that no reference result has."""
    if name not in NAMES:
        raise ValueError(f"there is no reference {name!r}; there are {', '.join(NAMES)}")
