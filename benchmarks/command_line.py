"""The command line of the suite: from its arguments to checked, resolved requests.

Hydra composes the configuration and nothing else: it starts no job, writes no log and makes no
folder. Every mistake ends in a `UsageError` of one line, before any work.
"""

from __future__ import annotations

import contextlib
import difflib
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

CONF = Path(__file__).resolve().parent.parent / "conf"
GROUPS = ("task", "method")
CHOICES = {
    "scale": ("smoke", "laptop", "paper"),
    "data": ("auto", "mnist", "cifar10"),
    "display": ("auto", "live", "plain"),
}
SWEEP_FLAGS = ("-m", "--multirun")

OPTIONS = """\
usage: python -m benchmarks.run task=NAME [OPTION=VALUE ...] [-m]

Runs every chosen method with every seed on one task, then prints a table and draws a figure.
The same command again continues what is unfinished and skips what is done.

options (with their defaults)
  task=NAME                     the task; +task=NAME is the same
  method=[random_search,gp_bo,btao]
                                one method or a list, shown in this order
  seeds=10                      10: the seeds 0 to 9; [3,7]: these two
  scale=laptop                  smoke, laptop or paper: the size of the task and its budget
  budget.heavy=                 stop after so many heavy runs,
  budget.iterations=              training iterations, light and heavy together,
  budget.seconds=                 or seconds of training and method's own time, whichever ends
                                  first. Without any of the three the scale's budget holds;
                                  with one or more, only those given
  data=auto                     auto, mnist or cifar10: auto may fall back on a smaller real
                                data set and says so, the other two fail instead
  data_dir=                     a folder with the data sets, looked into first
  jobs=1                        experiments run at the same time, each in a process of its own
  threads=1                     threads of linear algebra for each experiment
  out=results/runs              the folder of the records
  display=auto                  live or plain; auto: live in a terminal, else plain
  methods.NAME.PARAMETER=VALUE  a parameter of a chosen method
  task.parameters.NAME=VALUE    a parameter of the task
  -m, --multirun                every combination of comma-separated values, one after another
  -h, --help                    this text
"""
EXAMPLES = """\
examples
  python -m benchmarks.run task=currin
  python -m benchmarks.run task=toy method=[btao,gp_bo] seeds=[3,7] budget.heavy=12
  python -m benchmarks.run task=currin methods.btao.light_per_heavy=4 jobs=2
  python -m benchmarks.run -m task=toy,currin,park scale=smoke
"""


class UsageError(ValueError):
    """A mistake in the arguments; the message is one line for the user."""


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
        Limits named heavy, iterations and seconds: those given, or else those of the scale.
    """

    task: dict[str, Any]
    methods: dict[str, dict[str, Any]]
    seeds: tuple[int, ...]
    scale: str
    budget: dict[str, float]
    data: str
    data_dir: str | None
    out: Path
    jobs: int
    threads: int
    display: str


def choices(group: str) -> list[str]:
    """The names of a group of `conf/`, in alphabetical order."""
    return sorted(path.stem for path in (CONF / group).glob("*.yaml"))


def listing(group: str) -> str:
    """The names of a group, one indented line each with its description."""
    names = choices(group)
    width = max(map(len, names), default=0)
    lines = (f"  {name:{width}}  {_document(group, name).get('description', '')}".rstrip() for name in names)
    return "\n".join(lines) + "\n"


def help_text() -> str:
    """What `--help` prints."""
    return "\n".join([OPTIONS, "tasks\n" + listing("task"), "methods\n" + listing("method"), EXAMPLES])


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """A message for a name that does not exist, with the nearest one that does."""
    names = list(known)
    nearest = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    if nearest:
        return f"unknown {kind} {name!r}: did you mean {nearest[0]!r}?"
    return f"unknown {kind} {name!r}: " + ("see --help" if len(names) > 12 else f"choose one of {', '.join(names)}")


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
    with _one_line_errors():
        from hydra import initialize_config_dir

        with initialize_config_dir(config_dir=str(CONF), version_base="1.3"):
            return [_request(job) for job in _expand([normalise(argument) for argument in overrides], multirun)]


def normalise(argument: str) -> str:
    """Drop the + of `+task=...` and of any option: both spellings mean the same."""
    key = argument.lstrip("+").partition("=")[0]
    return argument.lstrip("+") if key in GROUPS or key in _keys(_document("", "config")) else argument


@contextlib.contextmanager
def _one_line_errors() -> Iterator[None]:
    """Turn what Hydra and OmegaConf raise into a `UsageError` of one line."""
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    try:
        yield
    except (HydraException, OmegaConfBaseException) as error:
        raise UsageError(" ".join(str(error).split())) from error


def _expand(overrides: list[str], multirun: bool) -> list[list[str]]:
    """The overrides of every job: the product of all sweeps, the last one fastest."""
    from hydra.core.global_hydra import GlobalHydra
    from hydra.core.override_parser.overrides_parser import OverridesParser

    axes = []
    for override in OverridesParser.create(GlobalHydra.instance().config_loader()).parse_overrides(overrides):
        key, line = override.get_key_element(), override.input_line or ""
        if override.is_hydra_override():
            raise UsageError(f"{line!r}: Hydra only reads the options here, its own settings have no effect")
        if override.is_delete():
            raise UsageError(f"{line!r}: an option cannot be removed")
        if not override.is_sweep_override():
            axes.append([line])
        elif not multirun:
            raise UsageError(f"{line!r} is a sweep: add -m to run it, or write a list as {key}=[...]")
        elif not override.is_discrete_sweep():
            raise UsageError(f"{line!r}: an interval cannot be swept, give its values")
        else:
            axes.append([f"{key}={value}" for value in override.sweep_string_iterator()])
    return [list(job) for job in itertools.product(*axes)]


def _request(overrides: list[str]) -> Request:
    """Compose one job's configuration and check it."""
    from hydra import compose
    from omegaconf import OmegaConf

    given = _check_names(overrides)
    config = OmegaConf.to_container(compose("config", overrides=overrides), resolve=True, throw_on_missing=True)
    for option, allowed in CHOICES.items():
        if config[option] not in allowed:
            raise UsageError(unknown(option, str(config[option]), allowed))
    limits = config["budget"]
    budget = {
        "heavy": _count("budget.heavy", limits["heavy"]),
        "iterations": _count("budget.iterations", limits["iterations"]),
        "seconds": _duration("budget.seconds", limits["seconds"]),
    }
    task, scale = config["task"], config["task"]["scales"][config["scale"]]
    scaled = {k: v for k, v in scale.get("parameters", {}).items() if f"task.parameters.{k}" not in given}
    return Request(
        task=task | {"parameters": task["parameters"] | scaled},
        methods=config["methods"],
        seeds=seeds(config["seeds"]),
        scale=config["scale"],
        budget={name: limit for name, limit in budget.items() if limit is not None} or scale["budget"],
        data=config["data"],
        data_dir=None if config["data_dir"] is None else str(config["data_dir"]),
        out=Path(str(config["out"])).expanduser(),
        jobs=_count("jobs", config["jobs"], required=True),
        threads=_count("threads", config["threads"], required=True),
        display=config["display"],
    )


def seeds(value: object) -> tuple[int, ...]:
    """The seeds that `seeds=` names: a number n means 0 to n - 1, a list means itself.

    Raises
    ------
    UsageError
        Not an integer of at least 1, and not a list of distinct integers of at least 0.
    """
    if _is_integer(value) and value >= 1:
        return tuple(range(value))
    listed = isinstance(value, list) and len(value) > 0 and all(_is_integer(seed) and seed >= 0 for seed in value)
    if listed and len(set(value)) == len(value):
        return tuple(value)
    raise UsageError(
        f"seeds={_text(value)}: give a number of seeds of at least 1 (seeds=10), "
        "or a list of different seeds of at least 0 (seeds=[3,7])"
    )


def _check_names(overrides: list[str]) -> set[str]:
    """Check the names of tasks, methods and options that one job overrides; the keys of the options."""
    from hydra.core.override_parser.overrides_parser import OverridesParser

    values = {item.key_or_group: item.value() for item in OverridesParser.create().parse_overrides(overrides)}
    chosen = {group: _chosen(group, values) for group in GROUPS}
    config = {
        **_document("", "config"),
        "task": _document("task", *chosen["task"]),
        "methods": {name: _document("method", name) for name in chosen["method"]},
    }
    known = _keys(config)
    extensible = ("task.parameters.", *(f"methods.{name}." for name in chosen["method"]))
    added = {item.key_or_group for item in OverridesParser.create().parse_overrides(overrides) if item.is_add()}
    for key in values:
        if key in (*GROUPS, *known) or (key in added and key.startswith(extensible)):
            continue
        head, _, name = key.partition(".")
        name = name.partition(".")[0]
        if head == "methods" and name in choices("method") and name not in chosen["method"]:
            raise UsageError(f"{key}: method {name!r} is not chosen; add it to method=[{','.join(chosen['method'])}]")
        raise UsageError(unknown("option", key, [*GROUPS, *known]))
    return set(_keys(values))


def _chosen(group: str, values: Mapping[str, Any]) -> list[str]:
    """The names chosen from a group: those given, or else the default ones."""
    defaults = _document("", "config")["defaults"]
    value = values.get(group) or next(entry[group] for entry in defaults if group in entry)
    if value == "???":
        raise UsageError(f"no {group} is chosen: add {group}=NAME with one of\n{listing(group)}".rstrip())
    names = [str(name) for name in (value if isinstance(value, list) else [value])]
    for name in names:
        if name not in choices(group):
            raise UsageError(unknown(group, name, choices(group)))
    if group == "task" and len(names) != 1:
        raise UsageError(f"task={_text(value)}: one task at a time; -m task={','.join(names)} runs one after another")
    if len(set(names)) != len(names):
        raise UsageError(f"{group}={_text(value)}: each one once")
    return names


def _document(group: str, name: str) -> dict[str, Any]:
    return yaml.safe_load((CONF / group / f"{name}.yaml").read_text(encoding="utf-8"))


def _keys(config: Mapping[str, Any], prefix: str = "") -> list[str]:
    """All dotted keys of a configuration, inner ones included, but not its list of defaults."""
    keys = []
    for key, value in config.items():
        if key != "defaults":
            keys.append(f"{prefix}{key}")
            keys += _keys(value, f"{prefix}{key}.") if isinstance(value, Mapping) else []
    return keys


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _count(option: str, value: object, required: bool = False) -> int | None:
    if value is None and not required:
        return None
    if not _is_integer(value) or value < 1:
        raise UsageError(f"{option}={_text(value)}: give an integer of at least 1")
    return value


def _duration(option: str, value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not (math.isfinite(value) and value > 0):
        raise UsageError(f"{option}={_text(value)}: give a number of seconds above 0")
    return float(value)


def _text(value: object) -> str:
    """A value as it is written on the command line."""
    return (
        "[" + ",".join(map(_text, value)) + "]" if isinstance(value, list) else "null" if value is None else str(value)
    )
