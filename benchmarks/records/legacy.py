"""Runs that were recorded before schema 2, read as if they had been recorded now.

Their identity names the paths of classes, their numbers are as they were typed, and their command is one
text for a shell. All of that is translated here, and nowhere else.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import re
import shlex
from collections.abc import Mapping
from typing import Any

from benchmarks.common.errors import UsageError
from benchmarks.config.registry import FORMER_TARGETS, target_of
from benchmarks.config.request import PATHS, read
from benchmarks.config.spec import FIRST_VERSION, Spec
from benchmarks.records.command import RUN_MODULE, Command, Job
from benchmarks.records.run_info import RunInfo, Start, Status, digest_of

FORMER_REPLAY = "benchmarks.replay.Replay"  # the class of a task that a recorded table answered


def run_of_schema_1(data: Mapping[str, Any]) -> RunInfo:
    """The run that a run.json of schema 1 describes; KeyError, TypeError, ValueError or AttributeError if none."""
    identity = identity_of_schema_1(data["configuration"])
    hashed = digest_of(identity)
    replayed = identity["source"] == "table"
    starts = tuple(
        _start(each, _command(each["command"], data, identity), replayed) for each in (*data.get("earlier", []), data)
    )
    return RunInfo(
        task=data["task"],
        method=data["method"],
        seed=data["seed"],
        hash=hashed,
        identity=identity,
        status=Status(data["status"]),
        why=data.get("exhausted"),
        optimum=data.get("optimum"),
        n_trials=data.get("n_trials"),
        table=(data.get("data_arguments") or {}).get("table"),
        starts=starts,
    )


def identity_of_schema_1(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """The identity that a run of this configuration has now."""
    replayed = configuration["task"].get("target") == FORMER_REPLAY
    task = dict(configuration["task"])
    if replayed:
        task |= {
            "target": FORMER_TARGETS["task"].get(task["name"]),
            "parameters": task["parameters"].get("parameters", {}),
        }
    rest = {name: value for name, value in configuration.items() if name not in ("task", "method")}
    return {
        "task": _spec_identity("task", task),
        "method": _spec_identity("method", configuration["method"]),
        "source": "table" if replayed else "live",
        **rest,
    }


def _spec_identity(group: str, recorded: Mapping[str, Any]) -> dict[str, Any]:
    name, target, parameters = recorded["name"], str(recorded.get("target")), recorded.get("parameters", {})
    registered = target_of(group, name)
    if target == FORMER_TARGETS[group].get(name, registered):
        target = str(registered)
    with contextlib.suppress(ValueError, TypeError):
        return Spec(name, target, parameters).identity(group) | {"version": FIRST_VERSION}
    return {"name": name, "version": FIRST_VERSION, "parameters": parameters, "target": target}  # its class is gone


def _start(recorded: Mapping[str, Any], command: Command, replayed: bool) -> Start:
    """A start; the code of the task of a replayed one was that of the replay, so it tells nothing."""
    names = {field.name for field in dataclasses.fields(Start)} & set(recorded) - {"command"}
    values = {name: recorded[name] for name in names if recorded[name] is not None or name in ("git", "finished")}
    if "code" in values and replayed:
        values["code"] = {name: digest for name, digest in values["code"].items() if name != "task"}
    return Start(command, **values)


def _command(text: str, run: Mapping[str, Any], identity: Mapping[str, Any]) -> Command:
    """A command of one text. Jobs of a sweep that no run tells of are not known of it."""
    words = shlex.split(text)
    if words[1:2] != ["-m"] or len(words) < 3:
        return Command()
    module, arguments = words[2], tuple(_unquoted(word) for word in words[3:])
    if module != RUN_MODULE:
        return Command(module, arguments)
    seeds = {run["seed"]: None}
    methods: dict[str, str | None] = {run["method"]: digest_of(identity)}
    for task, named_seeds, named_methods in _named(arguments):
        if task == run["task"] and run["method"] in named_methods:
            seeds |= dict.fromkeys(named_seeds)
            methods = {**dict.fromkeys(named_methods), **methods}
    setting = digest_of({name: value for name, value in identity.items() if name != "method"})
    return Command(module, arguments, (Job("", run["task"], setting, tuple(seeds), methods),))


def _unquoted(word: str) -> str:
    """An argument whose path was in the quotes of Hydra, which paths do without now."""
    from hydra.core.override_parser.overrides_parser import OverridesParser  # slow

    option, _, value = word.partition("=")
    if option not in PATHS or not re.fullmatch(r"'.*'|\".*\"", value, re.DOTALL):
        return word
    return f"{option}={OverridesParser.create().parse_override(word).value()}"


@functools.lru_cache(64)
def _named(arguments: tuple[str, ...]) -> tuple[tuple[str, tuple[int, ...], tuple[str, ...]], ...]:
    """Task, seeds and methods of each job of a `benchmarks.run`; none where its arguments mean nothing any more."""
    elsewhere = (*PATHS, "source", "data")  # which may be found from another folder alone, and name no run
    words = [word for word in arguments if word.lstrip("+").partition("=")[0] not in elsewhere]
    try:
        return tuple((job.task["name"], job.seeds, tuple(job.methods)) for job in read(words))
    except UsageError:
        return ()
