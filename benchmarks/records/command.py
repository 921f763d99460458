"""The command that a run was started with, as data: what it asks for, and how it is given again."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from baselines.libraries.interpreter import run_module
from benchmarks.config.options import value_of, with_values
from benchmarks.config.registry import ROOT, TABLES, default_out, found_from_here

RUN_MODULE, RECORD_MODULE, STUDY_MODULE = "benchmarks.run", "benchmarks.record", "benchmarks.study"


@dataclass(frozen=True)
class Job:
    """One job of a sweep, or all that a command without one asks for.

    Attributes
    ----------
    label : str
        The options that tell it from the others, as "task=toy, threads=2"; empty without a sweep.
    task : str
    setting : str
        The digest of what its runs have in common, see `RunInfo.setting`.
    seeds : tuple of int
    methods : dict of str to str or None
        By name: the hash of its runs; None where its library is not installed.
    """

    label: str
    task: str
    setting: str
    seeds: tuple[int, ...]
    methods: Mapping[str, str | None]


@dataclass(frozen=True)
class Command:
    """A command of the suite, or a call of `benchmarks.study.run` with classes that no command can name.

    Attributes
    ----------
    module : str
        As "benchmarks.run"; "benchmarks.study" of a call.
    arguments : tuple of str
        Its arguments, as a process gets them: no shell has to read them again. Of a call its keywords as they are
        written in Python.
    jobs : tuple of Job
        What a `benchmarks.run` asks for; empty for others.
    """

    module: str = ""
    arguments: tuple[str, ...] = ()
    jobs: tuple[Job, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        """The command as it is pasted into a shell; a call as it is written where its classes are."""
        if self.module == STUDY_MODULE:
            return f"study.run({', '.join(self.arguments)})"
        return shlex.join(["python", "-m", self.module, *self.arguments]) if self.module else ""

    @property
    def here(self) -> str:
        """As `str`, with the Python that runs: the line for this machine."""
        return str(self) if self.module in ("", STUDY_MODULE) else run_module(self.module, *self.arguments)

    def given(self, **values: str) -> Command:
        """This command with other values of options."""
        if self.module == STUDY_MODULE and "method" in values:
            name = values.pop("method")
            is_text = any(repr(name) in word for word in self.arguments)
            values = {"methods": repr(name) if is_text else name} | values
        return Command(self.module, tuple(with_values(self.arguments, values)), self.jobs)

    def value(self, option: str) -> str | None:
        """What it gives an option, None if nothing."""
        return value_of(self.arguments, option)

    def at(self, root: Path) -> Command:
        """This command for records in a folder, or of a table beside it, where it names another one from here."""
        if self.module == RUN_MODULE:
            folder, default = root, default_out()
        elif self.module == RECORD_MODULE:
            folder, default = root.parent, found_from_here(str(TABLES.relative_to(ROOT)))
        else:
            return self
        named = Path(os.path.expanduser(self.value("out") or default))
        return self if named.resolve() == folder.resolve() else self.given(out=str(folder))

    def has(self, seed: int) -> bool:
        """Whether it names a seed."""
        return any(seed in job.seeds for job in self.jobs)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The command in a run.json; KeyError, TypeError or AttributeError if there is none."""
        jobs = tuple(Job(**job | {"seeds": tuple(job["seeds"])}) for job in data["jobs"])
        return cls(data["module"], tuple(data["arguments"]), jobs)
