"""What a reader of a report must know before any figure: the notices at its head."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.analysis.intervals import SEEDS_FOR_INTERVAL
from benchmarks.data.datasets import is_stand_in
from benchmarks.reporting.coverage import replayed, scales
from benchmarks.reporting.page import Notice
from benchmarks.reporting.provenance import arithmetic_of, machine_of, starts, versions
from benchmarks.reporting.settings import Setting


def notices(settings: Sequence[Setting]) -> tuple[Notice, ...]:
    """All that apply, the gravest first."""
    texts = [
        *_contradictions(settings),
        *_versions(settings),
        *_data(settings),
        *_scale(settings),
        *_unfinished(settings),
    ]
    texts += [*_failed(settings), *_exhausted(settings), *_origin(settings), *_clock(settings), *_twice(settings)]
    texts += _few_seeds(settings)
    return tuple(map(Notice, texts))


def _contradictions(settings: Sequence[Setting]) -> Iterable[str]:
    for setting in settings:
        if setting.contradiction is not None:
            yield f"The records of {setting.name} contradict themselves, so it has no results: {setting.contradiction}."


def _versions(settings: Sequence[Setting]) -> Iterable[str]:
    for setting in settings:
        for line in setting.grid.several_versions(setting.done):
            yield f"SEVERAL VERSIONS: in {setting.name} {line}. `rerun=changed` makes these runs anew."


def _data(settings: Sequence[Setting]) -> Iterable[str]:
    for setting in settings:
        data = setting.shared["data"]
        if data and is_stand_in(data["name"]):
            yield (
                f"STAND-IN DATA: {setting.name} was not run on the published data set, but on {data['name']} "
                f"({data['n_train']:,} training and {data['n_validation']:,} validation images). Its figures say "
                "nothing about the published data set."
            )


def _scale(settings: Sequence[Setting]) -> Iterable[str]:
    smoke = [setting.name for setting in settings if "smoke" in scales(setting)]
    if smoke:
        yield f"scale=smoke tries the machinery out; it is no result: {'; '.join(smoke)}."


def _unfinished(settings: Sequence[Setting]) -> Iterable[str]:
    cells = sum(len(setting.grid.methods) * len(setting.grid.seeds) for setting in settings)
    done = sum(len(setting.done) for setting in settings)
    if done < cells:
        yield f"{cells - done} of {cells} runs are not done. Results are drawn from the {done} that are."

    def seeds(setting: Setting) -> set[tuple[int, ...]]:
        return {tuple(seed for name, seed in setting.done if name == method) for method in setting.labels}

    names = [setting.name for setting in settings if len(seeds(setting)) > 1]
    if names:
        yield f"The methods do not have the same seeds done, so their means are of different seeds: {'; '.join(names)}."


def _failed(settings: Sequence[Setting]) -> Iterable[str]:
    runs = sum(state == "failed" for setting in settings for state in setting.grid.states.values())
    trials = sum(int((setting.results["status"] != "ok").sum()) for setting in settings)
    if runs:
        yield f"Runs that failed: {runs}. The reasons are under “What failed”."
    if trials:
        yield f"Trials that failed in runs that are done: {trials}. They cost what they cost and are never best."


def _exhausted(settings: Sequence[Setting]) -> Iterable[str]:
    for setting in settings:
        runs = {cell: setting.grid.runs[cell][0].why for cell in setting.done}
        for why in dict.fromkeys(why for why in runs.values() if why):
            methods = dict.fromkeys(setting.labels[method] for (method, _), each in runs.items() if each == why)
            yield f"In {setting.name} runs of {', '.join(methods)} ended with budget left: {why}."


def _origin(settings: Sequence[Setting]) -> Iterable[str]:
    made = starts(settings)
    commits = [start.git or {} for start, _ in made]
    said = ["by several commits"] if len({git.get("commit") for git in commits}) > 1 else []
    said += ["some with changes that were not committed"] if any(not git.get("clean", True) for git in commits) else []
    said += ["some outside of a git checkout"] if not all(commits) else []
    mixed = [name for name, counts in versions(made).items() if len(counts) > 1]
    said += [f"with several versions of {', '.join(mixed)}"] if mixed else []
    known = {arithmetic_of(start) for start, _ in made if start.machine.get("arithmetic")}
    said += ["with arithmetic that rounds differently"] if len(known) > 1 else []
    if said:
        yield f"The runs were made {'; '.join(said)}: see “Where it comes from”."


def _clock(settings: Sequence[Setting]) -> Iterable[str]:
    if len({machine_of(start) for start, _ in starts(settings)}) > 1:
        yield "The runs were made on several machines, so their seconds do not compare."
    names = [setting.name for setting in settings if replayed(setting)]
    if names:
        yield f"Nothing was trained: seconds of training are those of the recorded table in {'; '.join(names)}."


def _twice(settings: Sequence[Setting]) -> Iterable[str]:
    tasks = [setting.shared["task"].get("name") for setting in settings]
    for task in dict.fromkeys(tasks):
        if tasks.count(task) > 1:
            yield f"Task {task} is here in {tasks.count(task)} settings; their figures do not compare with each other."


def _few_seeds(settings: Sequence[Setting]) -> Iterable[str]:
    def fewest(setting: Setting) -> int:
        return min(sum(name == method for name, _ in setting.done) for method in setting.labels)

    names = [setting.name for setting in settings if fewest(setting) < SEEDS_FOR_INTERVAL]
    if names:
        yield (
            f"Where a method has fewer than {SEEDS_FOR_INTERVAL} seeds done, brackets and bands are the range of its "
            f"seeds, no 95% interval: {'; '.join(names)}."
        )
