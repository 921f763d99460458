"""The description of a run, as run.json holds it: what was run, by what, where, and how it ended."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from benchmarks.records import fields
from benchmarks.records.command import Command

SCHEMA = 2  # of run.json; `benchmarks.records.legacy` reads 1
# By module the digest of its file; of earlier versions the digest of the file of the class alone, or None.
Code = Mapping[str, str] | str | None
IDENTITY = {"task", "method", "source", "budget", "threads", "data"}  # what an identity has at least


class Status(enum.StrEnum):
    """How a run stands."""

    RUNNING = "running"
    FINISHED = "finished"  # its budget is spent
    EXHAUSTED = "exhausted"  # its method had nothing left to propose
    FAILED = "failed"  # with an error of its method or its task
    KILLED = "killed"  # with its process

    @property
    def is_done(self) -> bool:
        """Whether the run is at its end, and not to be continued."""
        return self in (Status.FINISHED, Status.EXHAUSTED)


@dataclass(frozen=True)
class Start:
    """One start of a run: a run that was continued has several.

    Attributes
    ----------
    command : Command
    started, finished : str or None
        In UTC.
    first_trial : int
        How many trials were on record.
    code : dict
        Of the method and the task, what their code was: see `benchmarks.records.source_code`.
    versions, git, machine : dict
        As `benchmarks.records.provenance` gives them; git is None outside of a checkout.
    """

    command: Command = field(default_factory=Command)
    started: str | None = None
    finished: str | None = None
    first_trial: int = 0
    code: Mapping[str, Code] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    git: Mapping[str, Any] | None = None
    machine: Mapping[str, Any] = field(default_factory=dict)

    @property
    def made_by(self) -> dict[str, Any]:
        """Versions, commit and machine."""
        return {"versions": dict(self.versions), "git": self.git, "machine": dict(self.machine)}


@dataclass(frozen=True)
class RunInfo:
    """The description of a run.

    Attributes
    ----------
    task, method : str
        Their names.
    seed : int
    hash : str
        Of `identity`; it names the folder.
    identity : dict
        All that decides the outcome but the seed, see `Experiment.identity`.
    status : Status
    why : str or None
        Why it is exhausted, failed or killed, in one line.
    optimum : float or None
        Of the task, where it is known.
    n_trials : int or None
        How many are on record at the end.
    table : str or None
        The file of the recorded table that answers.
    starts : tuple of Start
        In their order; at least one.
    """

    task: str
    method: str
    seed: int
    hash: str
    identity: Mapping[str, Any]
    status: Status = Status.RUNNING
    why: str | None = None
    optimum: float | None = None
    n_trials: int | None = None
    table: str | None = None
    starts: tuple[Start, ...] = (Start(),)

    def __post_init__(self) -> None:
        """TypeError or KeyError where this can describe no run, as a damaged run.json does."""
        if missing := IDENTITY - self.identity.keys():
            raise KeyError(f"identity without {', '.join(sorted(missing))}")
        texts, mappings = (self.task, self.method, self.hash), (self.identity["budget"],)
        mappings += tuple(self.identity[part]["parameters"] for part in ("task", "method"))
        if not all(isinstance(text, str) for text in texts) or not isinstance(self.seed, int):
            raise TypeError(f"task, method and hash must be texts and seed an integer, got {(*texts, self.seed)}")
        if not all(isinstance(mapping, Mapping) for mapping in mappings):
            raise TypeError(f"budget and parameters must be mappings, got {mappings}")
        data = self.identity["data"]
        if data is not None and not isinstance(data["name"], str):
            raise TypeError(f"the name of the data must be a text, got {data['name']!r}")
        if self.optimum is not None:
            object.__setattr__(self, "optimum", fields.number("optimum", self.optimum))

    @property
    def command(self) -> Command:
        """What it was started with last."""
        return self.starts[-1].command

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Those of the method."""
        return self.identity["method"]["parameters"]

    @property
    def shared(self) -> dict[str, Any]:
        """The identity but for the method: what methods that are compared have in common."""
        return shared_of(self.identity)

    @property
    def setting(self) -> str:
        """The digest of `shared`."""
        return digest_of(self.shared)

    def ended(self, status: Status, why: str | None = None, n_trials: int | None = None) -> RunInfo:
        """This run at the end of its last start."""
        starts = (*self.starts[:-1], dataclasses.replace(self.starts[-1], finished=now()))
        return dataclasses.replace(self, status=status, why=why, n_trials=n_trials, starts=starts)

    def as_json(self) -> dict[str, Any]:
        """What `from_json` reads."""
        return {"schema": SCHEMA, **dataclasses.asdict(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The run in a run.json of this schema; KeyError, TypeError, ValueError or AttributeError if there is none."""
        values = {field.name: data[field.name] for field in dataclasses.fields(cls)}
        starts = tuple(Start(**start | {"command": Command.from_json(start["command"])}) for start in data["starts"])
        return cls(**values | {"status": Status(data["status"]), "starts": starts or (Start(),)})


def shared_of(identity: Mapping[str, Any]) -> dict[str, Any]:
    """An identity but for the method."""
    return {name: value for name, value in identity.items() if name != "method"}


def digest_of(identity: Mapping[str, Any]) -> str:
    """Ten hexadecimal digits of the SHA-256 of an identity, which is data that strict JSON can hold."""
    text = json.dumps(identity, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def now() -> str:
    """This second, in UTC."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
