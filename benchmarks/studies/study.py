"""A study as one object: the trials of many runs, what is missing, and the views that a notebook asks for."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from pandas import DataFrame

from benchmarks.analysis import aggregate as analysis
from benchmarks.analysis import over_time
from benchmarks.analysis.incumbents import RUN, incumbents, ordered_labels
from benchmarks.analysis.intervals import check_choice
from benchmarks.analysis.per_task import per_task
from benchmarks.analysis.ranking import average_ranks, blocks
from benchmarks.analysis.scores import scores
from benchmarks.console.notebook import show_figures
from benchmarks.figures.across_tasks import heat_map_figure, rank_figure, targets_figure
from benchmarks.figures.curves import curves_figure
from benchmarks.reporting import html, markdown
from benchmarks.reporting.latex import latex
from benchmarks.reporting.page import Block
from benchmarks.studies import study_page
from benchmarks.studies.curves_explorer import CurvesExplorer
from benchmarks.studies.study_sum import Settings, several_settings, still_missing
from benchmarks.studies.study_table import Planned, tables, unequal_budgets
from btao.running.files import write_whole


@dataclass(frozen=True, eq=False)
class Study:
    """Runs of methods on tasks, and what they show. A notebook shows it as what was run, what is missing, and a table.

    Attributes
    ----------
    trials : DataFrame
        Those of the runs that are done, as `benchmarks.records.load` gives them: a row a trial.
    titles : tuple of str
        What was run, a line for each part.
    methods : tuple of str
        The names of the methods, in the order of tables and legends.
    planned : mapping
        By task and method: how many seeds were asked for.
    missing : tuple of str
        A line for each run that has not come to a result, and why; a `MissingRun` where it is known which.
    settings : mapping
        By method (name and hash) what its runs have in common with those of other methods, see `RunInfo.shared`; of
        trials without a description there is none.
    """

    trials: DataFrame
    titles: tuple[str, ...]
    methods: tuple[str, ...]
    planned: Planned = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    settings: Settings = field(default_factory=dict)

    @property
    def labels(self) -> dict[str, str]:
        """By method (name and hash): the name that tables and figures show."""
        return ordered_labels(self.trials, self.methods) if len(self.trials) else {}

    @property
    def cautions(self) -> list[str]:
        """A line for each task whose runs are of several settings, or have not spent alike, as in a sum of studies."""
        unequal = unequal_budgets(self.trials, self.settings) if len(self.trials) else []
        return [*several_settings(self.trials, self.settings), *unequal]

    @functools.cached_property
    def states(self) -> DataFrame:
        """The state of every run after each of its trials, as `benchmarks.analysis.incumbents` has it.

        Raises
        ------
        ValueError
            If no run is done, or the records of a task contradict each other, as trials on two data sets do.
        """
        return incumbents(self._done)

    def curves(self, cost: str = "train_seconds", *, measure: str | None = None, statistic: str = "mean") -> DataFrame:
        """What methods have reached against what it has cost, over seeds.

        Parameters
        ----------
        cost : {"train_seconds", "heavy_runs", "heavy_equivalents", "time"}
        measure : {None, "regret", "value", "test_error"}
            None: of each task the regret where the optimum is known, else the value.
        statistic : {"mean", "median", "iqm"}
            What the interval, low to high, is of.

        Returns
        -------
        DataFrame
            As `benchmarks.analysis.aggregate.aggregate` returns it, with a column `measure`.

        Raises
        ------
        ValueError
            If a choice is none of those named; and as `states`.
        """
        check_choice("cost", cost, analysis.AXES)
        parts = []
        for _, states in self.states.groupby("task", sort=False):
            shown = measure or ("regret" if states["regret"].notna().any() else "value")
            parts.append(analysis.aggregate(states, cost, shown, statistic=statistic).assign(measure=shown))
        return pd.concat(parts, ignore_index=True)

    def summary(self, *, statistic: str = "mean") -> DataFrame:
        """What each method reached and what it cost: see `benchmarks.analysis.aggregate.summary`."""
        return analysis.summary(self._done, statistic=statistic)

    def ranks(self, by: str | None = None) -> DataFrame:
        """The mean rank of each method, the best first: see `benchmarks.analysis.ranking.average_ranks`.

        Parameters
        ----------
        by : {None, "task", "seed"}
            What methods are compared within; None: tasks where there are several, else seeds.

        Raises
        ------
        ValueError
            If there are fewer than two methods, or no task or seed that all have.
        """
        table = scores(self.states)
        return average_ranks(blocks(table, by or ("task" if table["task"].nunique() > 1 else "seed")))

    def ranks_over_time(self, cost: str = "heavy_equivalents") -> DataFrame:
        """The mean rank of each method after shares of a cost: see `benchmarks.analysis.over_time.ranks_over_time`."""
        return over_time.ranks_over_time(self.states, cost)

    def targets(self, cost: str = "heavy_equivalents") -> DataFrame:
        """The share of targets reached by a cost: see `benchmarks.analysis.over_time.targets_reached`."""
        return over_time.targets_reached(self.states, cost)

    def per_task(self, first: str | None = None, *, statistic: str = "mean") -> DataFrame:
        """What each method reached on each task, and tests against the first: see `benchmarks.analysis.per_task`."""
        return per_task(scores(self.states), first, statistic)

    def plot_ranks(
        self, cost: str = "heavy_equivalents", *, first: str | None = None, path: str | Path | None = None
    ) -> Figure:
        """Draw `ranks_over_time`: see `benchmarks.figures.across_tasks.rank_figure`."""
        show_figures()
        return rank_figure(self.ranks_over_time(cost), first=first, path=path)

    def plot_targets(
        self, cost: str = "heavy_equivalents", *, first: str | None = None, path: str | Path | None = None
    ) -> Figure:
        """Draw `targets`, an empirical distribution: see `benchmarks.figures.across_tasks.targets_figure`."""
        show_figures()
        return targets_figure(self.targets(cost), first=first, path=path)

    def heat_map(self, *, statistic: str = "median", path: str | Path | None = None) -> Figure:
        """Draw `per_task`, tasks and methods: see `benchmarks.figures.across_tasks.heat_map_figure`."""
        show_figures()
        return heat_map_figure(self.per_task(statistic=statistic), path=path)

    def plot(
        self,
        cost: str | Sequence[str] = "train_seconds",
        *,
        measure: str | Sequence[str | None] | None = None,
        statistic: str = "mean",
        path: str | Path | None = None,
        **options: Any,
    ) -> Figure:
        """Draw `curves`, a panel a task: see `benchmarks.figures.curves.curves_figure`, also for a path and `options`.

        Such as `focus=`, the methods in color, and `column=`, the width.
        """
        show_figures()
        options.setdefault("labels", self.labels or None)
        return curves_figure(self._done, cost, measure=measure, statistic=statistic, path=path, **options)

    def explore(self, cost: str = "train_seconds", **options: Any) -> CurvesExplorer:
        """The same in a notebook, with methods to switch on and off: see `benchmarks.studies.curves_explorer`."""
        return CurvesExplorer(self._done, options.pop("labels", None) or self.labels, cost, **options)

    def latex(self, path: str | Path | None = None, **options: Any) -> str:
        """A table of methods and tasks in LaTeX: see `benchmarks.reporting.latex.latex`, also for `options`.

        It is written to a file, too, where a path is given.
        """
        text = latex(self._done, **options)
        text = "".join(f"% {caution}.\n" for caution in self.cautions) + text
        if path is not None:
            write_whole(Path(path), text)
        return text

    def report(self, path: str | Path) -> Path:
        """Write a page with tables, figures and ranks.

        Parameters
        ----------
        path : path
            HTML that needs no other file where it ends in .html, Markdown where in .md. Its figures, as PNG and PDF,
            and their numbers go into a folder beside it, of the same name without the ending.

        Raises
        ------
        ValueError
            If it ends otherwise, or no run is done.
        """
        path = Path(path)
        if path.suffix not in (".html", ".md"):
            raise ValueError(f"path={path}: give a name that ends in .html or .md")
        folder = path.with_suffix("")
        page = study_page.page(self._shown, self._done, self.labels, self.ranks, folder)
        write_whole(path, html.render(page) if path.suffix == ".html" else markdown.render(page, folder.name))
        return path

    def __add__(self, other: Study) -> Study:
        """Both studies together; a run that is in both is taken once, and one that is done in either is not missing.

        Warns
        -----
        UserWarning
            Where runs of a task are of several settings, which it names, or have not spent alike: see `cautions`.
        """
        if not isinstance(other, Study):
            return NotImplemented
        more = other.trials
        if len(self.trials) and len(more):  # whole runs: of one that was made twice, trials may differ in number
            mine = pd.MultiIndex.from_frame(self.trials[RUN])
            more = more[~pd.MultiIndex.from_frame(more[RUN]).isin(mine)]
        parts = [part for part in (self.trials, more) if len(part)] or [self.trials]
        both = Study(
            pd.concat(parts, ignore_index=True),
            tuple(dict.fromkeys(self.titles + other.titles)),
            tuple(dict.fromkeys(self.methods + other.methods)),
            {**other.planned, **self.planned},
            still_missing((self.trials, self.missing), (other.trials, other.missing)),
            {**other.settings, **self.settings},
        )
        for line in both.cautions:
            warnings.warn(line, stacklevel=2)
        return both

    def __repr__(self) -> str:
        done = len(self.trials[RUN].drop_duplicates()) if len(self.trials) else 0
        missing = f", {len(self.missing)} missing" if self.missing else ""
        return f"Study({'; '.join(self.titles)}: {done} runs{missing})"

    def _repr_html_(self) -> str:
        return html.fragment(self._shown)

    @property
    def _done(self) -> DataFrame:
        """The trials; ValueError where there are none, which says what has become of the runs."""
        if self.trials.empty:
            more = len(self.missing) - study_page.MOST_MISSING
            lines = [*self.missing[: study_page.MOST_MISSING], *([f"and {more} more"] if more > 0 else [])]
            raise ValueError("; ".join(["no run of this study is done", *lines]))
        return self.trials

    @property
    def _shown(self) -> tuple[Block, ...]:
        return study_page.shown(
            self.titles, self.missing, self.cautions, lambda: tables(self.trials, self.methods, self.planned)
        )
