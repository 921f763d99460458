"""The claims of the paper as data, judged by checks: see claims.yaml and `benchmarks.analysis.checks`."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pandas import DataFrame

from benchmarks.analysis import checks
from benchmarks.analysis.checks import Figure, Undecided
from benchmarks.common.errors import UsageError
from benchmarks.config import options
from benchmarks.config.registry import document, find_table
from benchmarks.config.spec import Spec
from benchmarks.data.datasets import is_stand_in
from benchmarks.tables import table as tables
from benchmarks.tables.table import Table

CLAIMS = Path(__file__).with_suffix(".yaml")
OURS = "the paper counts heavy runs only"  # how the source of a claim begins that is a variation of the paper's
HOLDS, FAILS, OPEN = "holds", "does not hold", "cannot tell"
SOURCES = {"records": "frame", "table": "table", "task": "task"}  # what a claim may be of: the argument of its check
COLUMNS = ("claim", "source", "verdict", "figure", "low", "high", "n", "data", "meaning", "reason", "code")
COMMON = ("statement", "definition", "method", "over")  # what claims have in common that differ in the methods alone
PLACES = {"method": "A", "over": "B"}  # what stands in a statement in place of the methods
KEYS = ("claim", "source", "meaning", "check", "of", "for", "parameters", "above", "below", "images")
COMMON_TEXTS = {"statement": "claim", "definition": "meaning"}  # and what of an entry they are
# How the data of a table is named that has the training images of the paper: those of a part have their number in it.
WHOLE = re.compile(r"\(table \w+-[a-z0-9]+(-grid)?-paper\b")


@dataclass(frozen=True)
class Claim:
    """A claim that can be judged.

    Attributes
    ----------
    text : str
    source : str
        Where in the paper.
    meaning : str
        What is computed, and which figures count as the claim being true.
    check : callable
        Of `benchmarks.analysis.checks`.
    of : (str, str)
        A key of `SOURCES`, and the name of the reference result or of the task.
    parameters : mapping
        Further arguments of the check.
    above, below : float
        The claim is true of figures between.
    statement, definition : str
        As `text` and `meaning`, of methods that are called as in `PLACES`: the same for claims that differ in these.
    method, over : str
        Which they are; empty where the claim is not one of several methods, or of several rivals.
    all_images : bool
        Whether the figure depends on the number of training images, so that it must be of a recorded
        table with all of them.
    """

    text: str
    source: str
    meaning: str
    check: Callable[..., Figure]
    of: tuple[str, str]
    parameters: Mapping[str, Any]
    above: float
    below: float
    statement: str
    definition: str
    method: str = ""
    over: str = ""
    all_images: bool = False

    @property
    def code(self) -> str:
        """Where the figure is computed: file, line and function."""
        line = inspect.getsourcelines(self.check)[1]
        return f"{self.check.__module__.replace('.', '/')}.py#L{line}"

    def verdict(self, figure: Figure) -> str:
        """Whether the whole interval is where the claim is true, none of it, or some."""
        if math.isnan(figure.low) or math.isnan(figure.high):
            return OPEN
        # A bound that was not given is passed by nothing, not even by an infinite figure.
        too_small = [end <= self.above and self.above > -math.inf for end in (figure.low, figure.high)]
        too_large = [end >= self.below and self.below < math.inf for end in (figure.low, figure.high)]
        if not any(too_small + too_large):
            return HOLDS
        return FAILS if all(too_small) or all(too_large) else OPEN


def read(path: Path = CLAIMS) -> list[Claim]:
    """The claims in a file.

    Raises
    ------
    UsageError
        If it cannot be read, or a claim lacks something or names what there is not.
    """
    try:
        entries = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"claims={path} cannot be read: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise UsageError(f"claims={path}: {' '.join(str(error).split())}") from error
    if not isinstance(entries, list) or not entries:
        raise UsageError(f"claims={path}: give a list of claims, as benchmarks/analysis/claims.yaml does")
    claims: list[Claim] = []
    for number, entry in enumerate(entries, start=1):
        try:
            claims.extend(_claim(each) for each in _each(entry))
        except (KeyError, TypeError, ValueError) as error:
            reason = f"lacks {error}" if isinstance(error, KeyError) else str(error)
            raise UsageError(f"claims={path}: claim {number} {reason}") from error
    return claims


def _each(entry: Any) -> Iterator[dict[str, Any]]:
    """The entry once for every combination of the values in its `for`, which are named in its texts."""
    if not isinstance(entry, dict):
        raise TypeError(f"must hold {', '.join(KEYS)}, got {entry!r}")
    for key in entry:
        if key not in KEYS:
            raise ValueError(options.unknown("key", key, KEYS))
    several = entry.get("for", {})
    for values in itertools.product(*several.values()):
        given = dict(zip(several, values, strict=True))
        texts = {key: str(entry[key]).format(**given) for key in ("claim", "meaning")}
        unnamed = given | {name: place for name, place in PLACES.items() if name in given}
        common = {name: str(entry[key]).format(**unnamed) for name, key in COMMON_TEXTS.items()}
        common |= {name: str(given.get(name, "")) for name in PLACES}
        yield entry | texts | common | {"parameters": entry["parameters"] | given}


def _claim(entry: dict[str, Any]) -> Claim:
    if not {"above", "below"} & set(entry):
        raise ValueError("needs above or below, to say which figures would make it true")
    known = [name for name, value in vars(checks).items() if _is_check(value)]
    if entry["check"] not in known:
        raise ValueError(options.unknown("check", str(entry["check"]), known))
    check = getattr(checks, entry["check"])
    if not isinstance(entry["of"], dict) or len(entry["of"]) != 1 or not set(entry["of"]) <= set(SOURCES):
        raise ValueError(f"must be of one of {', '.join(SOURCES)}, got {entry['of']!r}")
    ((kind, name),) = entry["of"].items()
    first = next(iter(inspect.signature(check).parameters))
    if first != SOURCES[kind]:
        raise ValueError(f"cannot be of {kind}: {entry['check']} takes a {first}")
    inspect.signature(check).bind(None, **entry["parameters"])
    above, below = float(entry.get("above", -math.inf)), float(entry.get("below", math.inf))
    text, source, meaning = (entry[key] for key in ("claim", "source", "meaning"))
    if entry.get("images", "all") != "all":
        raise ValueError(f"images must be all, or be left out, got {entry['images']!r}")
    of, common = (kind, name), {each: entry[each] for each in COMMON}
    parameters, whole = entry["parameters"], "images" in entry
    return Claim(text, source, meaning, check, of, parameters, above, below, **common, all_images=whole)


def _is_check(value: Any) -> bool:
    """A public function of the module whose first argument is what a claim can be of."""
    if not inspect.isfunction(value) or value.__module__ != checks.__name__ or value.__name__.startswith("_"):
        return False
    return inspect.signature(value).return_annotation == "Figure"


def judge(claims: Sequence[Claim], records: Callable[[str], DataFrame]) -> DataFrame:
    """Compute the figure of every claim.

    Parameters
    ----------
    claims : sequence of Claim
    records : callable
        Gives the trials of a reference result by its name; FileNotFoundError where there are none. Called once a name.

    Returns
    -------
    DataFrame
        One row a claim: claim, source, verdict, figure, low, high (its interval), n (seeds, configurations or
        points), data (the data set, where there is one), meaning, reason (why nothing can be told, where there is
        no figure), code (file, line), statement, definition, method, over.
    """
    subject = functools.cache(functools.partial(_subject, records))
    rows = []
    for claim in claims:
        row: dict[str, Any] = {"claim": claim.text, "source": claim.source, "verdict": OPEN}
        row |= {"figure": math.nan, "low": math.nan, "high": math.nan, "n": 0, "data": "", "meaning": claim.meaning}
        reason = ""
        try:
            of = subject(*claim.of)
            row["data"] = _data(of, claim)
            figure = claim.check(of, **claim.parameters)
        except Undecided as error:
            reason = str(error)
        else:
            row |= {"verdict": claim.verdict(figure)} | dataclasses.asdict(figure)
            row["figure"] = row.pop("value")
        rows.append(row | {"reason": reason, "code": claim.code} | {name: getattr(claim, name) for name in COMMON})
    return DataFrame(rows, columns=[*COLUMNS, *COMMON])


def _subject(records: Callable[[str], DataFrame], kind: str, name: str) -> Any:
    """What a claim is of: trials, a recorded table or a task; Undecided where there is none."""
    try:
        if kind == "records":
            return records(name)
        if kind == "table":
            return tables.load(find_table(name, None, None))
    except (FileNotFoundError, UsageError):
        raise Undecided(f"no {'reference result' if kind == 'records' else 'recorded table'} {name}") from None
    task = document("task", name)
    return Spec(name, task["_target_"], task["parameters"]).build()


def _data(of: Any, claim: Claim) -> str:
    """The data set behind a figure; Undecided if it is one that the paper says nothing of.

    That is a stand-in, or for a claim of all images what does not name a table of all.
    """
    if isinstance(of, DataFrame):
        names = of.loc[of["task"] == claim.parameters.get("task"), "data"].dropna().unique().tolist()
    elif isinstance(of, Table):
        n = of.rows["configuration"].nunique()
        data = "no data set" if of.head.data is None else of.head.data.name
        names = [f"{data} (table {of.name}, {n} configurations)"]
    else:
        names = []
    for name in names:
        if is_stand_in(name):
            raise Undecided(f"recorded on stand-in data only: {name}")
        if claim.all_images and not WHOLE.search(name):
            raise Undecided(f"not of a table that has all training images of the paper: {name}")
    return ", ".join(names)


def figure_text(row: Mapping[Any, Any]) -> str:
    """The figure of a row of `judge` with its interval."""
    return f"{row['figure']:.3g} [{row['low']:.3g}, {row['high']:.3g}]"
