"""The command line of the suite: from its arguments to checked, resolved requests.

Hydra composes the configuration and nothing else: it starts no job, writes no log and makes no
folder. Every mistake ends in a `UsageError` of one line, before any work.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from benchmarks.common.errors import UsageError
from benchmarks.config import hydra_store, options
from benchmarks.config.additions import Addition, Key
from benchmarks.config.options import SCALES, text, unknown
from benchmarks.config.registry import (
    CONF,
    GROUPS,
    adding,
    addition,
    additions,
    choices,
    default_out,
    document,
    find_table,
    folder_additions,
    task_listing,
)

# hydra and omegaconf are imported when used: --help starts at once.

SWEEP_FLAGS = ("-m", "--multirun")
# Options that are taken literally, whatever characters are in them.
PATHS = {
    "out": "a folder, . for this one",
    "conf": "a folder with task/NAME.yaml or method/NAME.yaml in it",
    "data_dir": "a folder",
    "table": "a file, or the name of a table",
}


def whole_paths(given: Mapping[str, str | None]) -> dict[str, str]:
    """Those of the options of `PATHS` that are given, as they are found from any folder.

    Tables, of which a sweep names several, stay as they are where they are names and no files.
    """
    whole = {}
    for option, value in given.items():
        if option not in PATHS or value in (None, "", "null"):
            continue
        paths = [os.path.expanduser(path) for path in (value.split(",") if option == "table" else [value])]
        if option != "table" or all(map(os.path.exists, paths)):
            whole[option] = ",".join(map(os.path.abspath, paths))
    return whole


@dataclass(frozen=True)
class Request:
    """What one command, or one job of a sweep, asks for: names and values checked, scale applied.

    Attributes
    ----------
    task : dict
        conf/task/<name>.yaml with overrides; `parameters` are those of the scale, unless given.
    methods : dict of str to dict
        conf/method/<name>.yaml with overrides, in the order they were asked for.
    budget : dict of str to number
        Limits named heavy, iterations, seconds and train_seconds: those given, or else those of the scale.
    table : Path or None
        The recorded table, if `source` is "table". The scale is then the table's.
    given : dict
        The parameters of the task that the command line itself gives.
    address : str or None
        Of the scheduler; None: the engine brings its own.
    rerun : str
        Which runs are made anew: none, changed, failed or all.
    label : str
        Of a job of a sweep: the options, but for method and seeds, that tell it from the others.
    additions : dict
        By group and name: the task and those of the methods that no file of the suite names.
    """

    task: dict[str, Any]
    methods: dict[str, dict[str, Any]]
    seeds: tuple[int, ...]
    scale: str
    budget: dict[str, float]
    shared_init: bool
    cache: bool
    source: str
    table: Path | None
    given: dict[str, Any]
    data: str
    data_dir: str | None
    out: Path
    engine: str
    address: str | None
    jobs: int
    threads: int
    display: str
    rerun: str
    label: str
    additions: dict[Key, Addition] = field(default_factory=dict)


def own_options(
    arguments: Sequence[str], own: Mapping[str, str], without: Container[str], what: str
) -> tuple[dict[str, str], list[str]]:
    """The options of a command that reads all others as `benchmarks.run` does.

    Parameters
    ----------
    arguments : sequence of str
    own : mapping
        Its own options with their defaults.
    without : container of str
        Options of `benchmarks.run` that it has no use for; those below them, such as methods.btao, too.
    what : str
        What it makes, for the message about these.

    Returns
    -------
    own : dict
        With the values that are given.
    rest : list of str
        The arguments for `read`.

    Raises
    ------
    UsageError
        If there is a flag, or an option of no effect.
    """
    given, rest = dict(own), []
    for argument in arguments:
        name, _, value = argument.lstrip("+").partition("=")
        if argument.startswith("-"):
            raise UsageError(unknown("flag", argument, ["-h", "--help"]))
        if name in given:
            given[name] = value
        elif name.partition(".")[0] in without:
            raise UsageError(f"{argument!r} has no effect on {what}; --help lists the options")
        else:
            rest.append(argument)
    return given, rest


def read(arguments: Sequence[str]) -> list[Request]:
    """The requests that the arguments make: one, or with `-m` one for every job of the sweep.

    Raises
    ------
    UsageError
        A name that does not exist, a wrong type or a value out of range, or no task.
    """
    multirun = any(argument in SWEEP_FLAGS for argument in arguments)
    overrides = [argument for argument in arguments if argument not in SWEEP_FLAGS]
    for argument in overrides:
        if argument.startswith("-"):
            raise UsageError(unknown("flag", argument, [*SWEEP_FLAGS, "-h", "--help"]))
        if "=" not in argument:
            raise UsageError(f"{argument!r} is not of the form option=value; --help lists the options")
    from hydra import initialize_config_dir  # slow
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    try:
        with contextlib.ExitStack() as stack:
            stack.enter_context(more_of(arguments))
            stack.enter_context(hydra_store.named(additions()))
            stack.enter_context(initialize_config_dir(config_dir=str(CONF), version_base="1.3"))
            return [_request(job) for job in _expand([normalize(argument) for argument in overrides], multirun)]
    except (HydraException, OmegaConfBaseException) as error:
        raise UsageError(str(error).partition("\n")[0]) from error


def more_of(arguments: Sequence[str]) -> contextlib.AbstractContextManager[None]:
    """Have the tasks and methods of the folder `conf=`, where the arguments name one; UsageError if there is none."""
    folder = options.value_of(arguments, "conf")
    return adding({} if folder is None else folder_additions(Path(os.path.abspath(os.path.expanduser(folder)))))


def normalize(argument: str) -> str:
    """Drop the + of `+task=...` and of any option, as both spellings mean the same; `engine=` is its name."""
    key, _, value = argument.lstrip("+").partition("=")
    if key == "engine":
        return f"engine.name={value}"
    return argument.lstrip("+") if key in (*GROUPS, *_tree(document("", "config"))) else argument


@dataclass(frozen=True)
class _Job:
    """One job of a sweep: its overrides, its paths by option, and what tells it from the others."""

    overrides: list[str]
    paths: dict[str, str | None]
    label: str


def _expand(arguments: list[str], multirun: bool) -> list[_Job]:
    """Every job: the product of all sweeps, the last one fastest."""
    axes = [_values(argument, multirun) for argument in arguments]
    swept = {values[0][0] for values in axes if len(values) > 1} - {"method", "seeds"}
    return [
        _Job(
            [f"{key}={value}" for key, value in job if key not in PATHS],
            {key: value for key, value in job if key in PATHS},
            ", ".join(sorted(f"{key}={text(value)}" for key, value in job if key in swept)),
        )
        for job in itertools.product(*axes)
    ]


def _values(argument: str, multirun: bool) -> list[tuple[str, str | None]]:
    """The option of an argument with its value, or with each that it sweeps over."""
    from hydra.core.global_hydra import GlobalHydra
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import OverrideParseException

    option, _, given = argument.partition("=")
    if option in PATHS:  # literally, so that Hydra's own signs may be in it
        several = multirun and option == "table" and not Path(os.path.expanduser(given)).exists()
        paths = given.split(",") if several else [given]
        if "" in paths:
            raise UsageError(f"{option}=: give {PATHS[option]}")
        return [(option, None if path == "null" else path) for path in paths]
    if option in GROUPS and not given.isascii():
        raise UsageError(f"{option}={given}: a name is of letters without accents, digits, '_', '-' and '.'")
    parser = OverridesParser.create(GlobalHydra.instance().config_loader())
    try:
        (override,) = parser.parse_overrides([argument])
    except OverrideParseException as error:
        raise UsageError(f"{argument!r} cannot be read: {str(error).partition(chr(10))[0]}") from error
    key = override.get_key_element()
    if override.is_hydra_override():
        raise UsageError(f"{argument!r}: Hydra only reads the options here, its own settings have no effect")
    if override.is_delete():
        raise UsageError(f"{argument!r}: an option cannot be removed")
    if not override.is_sweep_override():
        return [(option, given)]
    if not multirun:
        or_list = f", or write a list as {key}=[...]" if key in _lists() else ""
        raise UsageError(f"{argument!r} is a sweep: add -m to run one after another{or_list}")
    if not override.is_discrete_sweep():
        raise UsageError(f"{argument!r}: an interval cannot be swept, give its values")
    return [(key, value) for value in override.sweep_string_iterator()]


def _lists() -> set[str]:
    """The options that take a list."""
    trees = [_tree(document("task", name), "task.") for name in choices("task")]
    trees += [_tree(document("method", name), f"methods.{name}.") for name in choices("method")]
    return {"method", "seeds", *(key for tree in trees for key, value in tree.items() if isinstance(value, list))}


def _request(job: _Job) -> Request:
    """Compose one job's configuration and check it."""
    from hydra import compose
    from omegaconf import OmegaConf

    defaults = _check_names(job.overrides) | dict.fromkeys(job.paths)
    added = _additions(job.overrides)
    composed = compose("config", overrides=job.overrides)
    config = cast("dict[str, Any]", OmegaConf.to_container(composed, resolve=True, throw_on_missing=True)) | job.paths
    values = _tree(config)
    for key, default in defaults.items():
        if key.startswith(("task.", "methods.")):
            options.alike(key, values[key], default)
    asked = config | {"engine": config["engine"]["name"]}
    chosen = {option: options.choice(option, asked[option]) for option in options.CHOICES}
    address = _name(config["engine"]["address"])
    if address is not None and chosen["engine"] != "dask":
        raise UsageError(f"engine.address={address} has no effect without engine=dask")
    budget: dict[str, float] = {
        name: options.BUDGET[name](f"budget.{name}", limit)
        for name, limit in config["budget"].items()
        if limit is not None
    }
    if config["out"] in (None, ""):
        raise UsageError(f"out={text(config['out'])}: give a folder, . for this one")
    table = _table(config, given=defaults)
    if table is not None:
        chosen["scale"] = _scale_of(table)
    task, scale = config["task"], config["task"]["scales"][chosen["scale"]]
    prefix = "task.parameters."
    given = {key.removeprefix(prefix): values[key] for key in defaults if key.startswith(prefix)}
    scaled = {name: value for name, value in scale.get("parameters", {}).items() if name not in given}
    return Request(
        task=task | {"parameters": task.get("parameters", {}) | scaled},
        methods=config["methods"],
        seeds=options.seeds(config["seeds"]),
        budget=budget or scale["budget"],
        shared_init=options.flag("shared_init", config["shared_init"]),
        cache=_cache(config),
        data_dir=_name(config["data_dir"]),
        table=table,
        given=given,
        out=Path(os.path.expanduser(str(config["out"]))) if "out" in job.paths else default_out(),
        address=address,
        jobs=options.count("jobs", config["jobs"]),
        threads=options.count("threads", config["threads"]),
        label=job.label,
        additions=added,
        **chosen,
    )


def _additions(overrides: list[str]) -> dict[Key, Addition]:
    """The additions that one job chooses, which Hydra then finds beside the files of `conf/`."""
    from hydra.core.override_parser.overrides_parser import OverridesParser

    values = {item.key_or_group: item.value() for item in OverridesParser.create().parse_overrides(overrides)}
    chosen = {(group, name): addition(group, name) for group in GROUPS for name in _chosen(group, values)}
    found = {key: added for key, added in chosen.items() if added is not None}
    for key in found:
        hydra_store.put(key, document(*key))
    return found


def _table(config: Mapping[str, Any], given: Container[str]) -> Path | None:
    """The recorded table to be replayed, None if training is live; `given` are the options on the command line."""
    if config["source"] != "table":
        if config["table"] is not None:
            raise UsageError(f"table={text(config['table'])} has no effect without source=table")
        return None
    scale = config["scale"] if "scale" in given else None
    table = find_table(config["task"]["name"], scale, _name(config["table"]))
    for option in ("data", "data_dir"):
        if option in given:
            raise UsageError(f"{option}={text(config[option])} has no effect with source=table")
    recorded_at = _scale_of(table)
    if recorded_at not in SCALES or scale not in (None, recorded_at):
        raise UsageError(
            f"table={table}: a table is named <task>-<data>-<scale>.parquet"
            + (f", and scale={scale} was asked for" if scale is not None else "")
        )
    return table


def _cache(config: Mapping[str, Any]) -> bool:
    cache = options.flag("cache", config["cache"])
    if cache and config["source"] == "table":
        raise UsageError("cache=true has no effect with source=table")
    return cache


def _scale_of(table: Path) -> str:
    return table.stem.rpartition("-")[2]


def _name(value: object) -> str | None:
    return None if value is None else str(value)


def _check_names(overrides: list[str]) -> dict[str, Any]:
    """Check the names of tasks, methods and options that one job overrides; the options' keys and defaults."""
    from hydra.core.override_parser.overrides_parser import OverridesParser

    parsed = {item.key_or_group: item for item in OverridesParser.create().parse_overrides(overrides)}
    values = {key: item.value() for key, item in parsed.items()}
    top = document("", "config")
    heads = [*GROUPS, "methods", *(name for name in top if name != "defaults")]
    for key in parsed:
        if key.partition(".")[0] not in heads:
            raise UsageError(unknown("option", key, heads))
    chosen = {group: _chosen(group, values) for group in GROUPS}
    known = _tree(
        top
        | {"task": document("task", *chosen["task"])}
        | {"methods": {name: document("method", name) for name in chosen["method"]}}
    )
    extensible = ("task.parameters.", *(f"methods.{name}." for name in chosen["method"]))
    for key, item in parsed.items():
        if key in GROUPS or (item.is_add() and key.startswith(extensible)):
            continue
        head, _, name = key.partition(".")
        name = name.partition(".")[0]
        if head == "methods" and name in choices("method") and name not in chosen["method"]:
            raise UsageError(f"{key}: method {name!r} is not chosen; add it to method=[{','.join(chosen['method'])}]")
        if key not in known:
            raise UsageError(unknown("option", key, known))
        if isinstance(known[key], Mapping) and not isinstance(values[key], Mapping):
            raise UsageError(f"{key}={text(values[key])}: give one of its parts, {key}.{next(iter(known[key]))}=...")
    return {key: known.get(key) for key in _tree(values)}


def _chosen(group: str, values: Mapping[str, Any]) -> list[str]:
    """The names chosen from a group: those given, or else the default ones."""
    defaults = document("", "config")["defaults"]
    value = values[group] if group in values else next(entry[group] for entry in defaults if group in entry)
    if not value or value == "???":
        listing = f"one of\n{task_listing()}" if group == "task" else f"one or more of {', '.join(choices(group))}"
        raise UsageError(f"no {group} is chosen: add {group}=NAME with {listing}".rstrip())
    names = [str(name) for name in (value if isinstance(value, list) else [value])]
    for name in names:
        if name not in choices(group):
            raise UsageError(unknown(group, name, choices(group)))
    if group == "task" and len(names) != 1:
        raise UsageError(f"task={text(value)}: one task at a time; -m task={','.join(names)} runs one after another")
    if len(set(names)) != len(names):
        raise UsageError(f"{group}={text(value)}: each one once")
    return names


def _tree(config: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """All values of a configuration by dotted key, inner ones included, but for its list of defaults."""
    values = {}
    for key, value in config.items():
        if key != "defaults":
            values[f"{prefix}{key}"] = value
            values |= _tree(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {}
    return values
