"""benchmarks.analysis.ablation: the commands, the labels, and the effects against hand-made runs."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from benchmarks.analysis import ablation
from benchmarks.analysis.ablation import effects, regrets
from benchmarks.analysis.checks import Undecided, ablation_effect
from benchmarks.analysis.variants import DEFAULT, commands, label, variants
from benchmarks.config.registry import document
from benchmarks.config.request import read
from benchmarks.config.spec import Spec
from benchmarks.figures import ablation as ablation_plots
from benchmarks.records.frames import load
from benchmarks.running.experiment import Budget, Experiment, run_experiment
from benchmarks.running.plan import plan
from layout import faults

DEFAULTS = {name: value for name, value in document("method", "btao_joint").items() if name != "_target_"}


def test_every_option_is_changed_alone_and_the_default_is_run():
    alone = commands(["task=currin", "budget.heavy=12"], "truncated")
    jobs = [request.methods["btao_joint"] for command in alone for request in read(command)]
    assert [label(job) for job in jobs].count(DEFAULT) == 1
    assert sorted(map(label, jobs)) == sorted(set(variants()) - {"untruncated"})
    for job in jobs:
        changed = {option for option, value in DEFAULTS.items() if job[option] != value}
        assert len(changed) <= 1 or changed == {"delta_bounds", "rho_bounds"}


def test_a_task_with_bounds_is_studied_without_them_as_its_record_says(tmp_path):
    command = commands(["task=toy", "budget.heavy=5"], "untruncated")[-1]
    (request,) = read([*command, f"out={tmp_path}", "seeds=1"])
    (experiment,) = plan(request).experiments
    assert label(experiment.identity["method"]["parameters"]) == "untruncated"


def test_a_recorded_table_fits_the_same_definition():
    (request,) = read(commands(["task=fcn", "source=table"], "untruncated")[-1])
    assert (request.source, request.table.suffix) == ("table", ".parquet")


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, DEFAULT),
        ({"light_per_heavy": 4}, "light_per_heavy=4"),
        ({"start": "random", "square_root_beta": True}, "start=random, square_root_beta=true"),
        ({"delta_bounds": ["-inf", "inf"], "rho_bounds": ["-inf", "inf"]}, "untruncated"),
        ({"delta_bounds": [-1, 0], "rho_bounds": [0, 1]}, "truncated"),
        ({"delta_bounds": [-1, 0]}, "delta_bounds=[-1, 0]"),
    ],
)
def test_a_label_says_what_is_changed(changes, text):
    assert label(DEFAULTS | changes) == text


def runs(**values):
    """BTAO on a task of optimum 0: a light run of 1 iteration, then a heavy one of 4, again and again.

    `values` are, by identity, lists of seeds, each the heavy values of a run.
    """
    rows = []
    for identity, (changes, seeds) in values.items():
        for seed, heavy_values in enumerate(seeds):
            pairs = [(5.0, False), (0.0, True)] * len(heavy_values)
            for trial, (_, heavy) in enumerate(pairs):
                value = heavy_values[trial // 2] if heavy else 5.0
                rows.append(
                    {
                        **{
                            "task": "t",
                            "method": "btao_joint",
                            "hash": identity,
                            "seed": seed,
                            "data": None,
                            "optimum": 0.0,
                        },
                        **{"parameters": json.dumps(DEFAULTS | changes), "trial": trial, "heavy": heavy},
                        **{"budget": 4 if heavy else 1, "value": value, "status": "ok", "truth": value},
                        **{"iterations": 4 if heavy else 1, "train_seconds": 0.0, "method_seconds": 0.0, "time": 1.0},
                    }
                )
    return pd.DataFrame(rows)


TRIALS = runs(
    a=({}, [[1.0, 0.1], [1.0, 0.01], [1.0, 0.0]]),
    b=({"light_per_heavy": 4}, [[2.0, 1.0], [2.0, 0.001], [0.5, 0.0]]),
    c=({"start": "random"}, [[3.0]]),
)


def test_regrets_are_read_at_a_cost_and_never_beyond_the_end_of_a_run():
    at_end = regrets(TRIALS, "heavy_runs", 2).set_index(["label", "seed"])["regret"]
    assert at_end[DEFAULT].tolist() == [0.1, 0.01, 0.0]
    assert np.isnan(at_end["start=random", 0])
    assert regrets(TRIALS, "heavy_equivalents", 2.49)["regret"].tolist()[:3] == [1.0] * 3  # the second is done at 2.5
    assert regrets(TRIALS, "heavy_equivalents", 2.5)["regret"].tolist()[:3] == [0.1, 0.01, 0.0]
    assert regrets(TRIALS, "heavy_equivalents", 1.0)["regret"].isna().all()


def test_effects_are_paired_by_seed():
    four, random = effects(TRIALS, "heavy_runs", 2).to_dict("records")
    assert (four["label"], four["n"], four["missing"]) == ("light_per_heavy=4", 3, 0)
    assert four["difference"] == pytest.approx((0.9 - 0.009 + 0.0) / 3)
    assert four["decades"] == pytest.approx((1 - 1 + 0) / 3)
    assert (four["difference_low"], four["difference_high"]) == pytest.approx((-0.009, 0.9))  # the range of 3 seeds
    assert (four["better"], four["equal"], four["worse"]) == (1, 1, 1)
    assert (four["regret"], four["default"]) == (0.001, 0.01)
    assert (random["label"], random["n"], random["missing"]) == ("start=random", 0, 1)
    (row,) = effects(TRIALS[TRIALS["hash"] != "b"], "heavy_runs", 1).to_dict("records")
    assert (row["n"], row["decades"], row["worse"]) == (1, pytest.approx(np.log10(3)), 1)


def test_a_variant_that_ends_early_moves_its_own_effect_only():
    end = ablation.common_end(TRIALS, "heavy_runs")
    assert end.to_dict() == {("t", "light_per_heavy=4"): 2, ("t", "start=random"): 1}
    four, random = effects(TRIALS, "heavy_runs", end).to_dict("records")
    assert (four["at"], random["at"]) == (2, 1)
    (alone,) = effects(TRIALS, "heavy_runs", 2).to_dict("records")[:1]
    assert four == alone
    assert ablation.common_end(TRIALS[TRIALS["hash"] != "a"], "heavy_runs").empty


def test_effects_at_moments_are_those_of_each_task_where_its_own_default_has_its_first_proposal():
    start = runs(a=({}, [[4.0, 3.0, 2.0, 1.0]] * 2), b=({"start": "random"}, [[4.0, 2.0, 1.0, 0.5]] * 2))
    other = start.assign(task="s", heavy=start["trial"].isin([2, 3, 5, 7]))  # of which a start of two heavy runs
    other = other.assign(**dict.fromkeys(("budget", "iterations"), np.where(other["heavy"], 4, 1)))
    two = pd.concat([start, other], ignore_index=True)
    found = ablation.at_moments(two)
    alone = [ablation.at_moments(two[two["task"] == task]) for task in ("s", "t")]
    pd.testing.assert_frame_equal(found, pd.concat(alone, ignore_index=True))
    ends = found[found["moment"] == "end"].drop(columns="moment").query("task == 't' and cost == 'heavy_runs'")
    expected = effects(start, "heavy_runs", ablation.common_end(start, "heavy_runs"))
    pd.testing.assert_frame_equal(ends.reset_index(drop=True), expected)
    first = found[(found["moment"] == "first proposal") & (found["cost"] == "heavy_runs")].set_index("task")["at"]
    assert (first["t"], first["s"]) == (2, 3)


def test_ties_tell_nothing():
    trials = runs(a=({}, [[1.0, 0.0], [2.0, 0.0]]), b=({"start": "random"}, [[3.0, 0.0], [1.0, 1e-12]]))
    (row,) = effects(trials, "heavy_runs", 2).to_dict("records")
    assert (row["n"], row["better"], row["equal"], row["worse"], row["value"]) == (2, 0, 2, 0, 0.0)
    assert np.isnan([row["low"], row["high"], row["decades_low"]]).all()


def test_measured_errors_are_compared_by_their_difference():
    """Of which the smallest is the optimum: decades would be nine, whatever the unit."""
    (row,) = effects(TRIALS.assign(truth=None)[TRIALS["hash"] != "c"], "heavy_runs", 2).to_dict("records")
    assert (row["measure"], row["value"]) == ("difference", row["difference"])
    assert (row["low"], row["high"]) == pytest.approx((-0.009, 0.9))
    (row,) = effects(TRIALS[TRIALS["hash"] != "c"], "heavy_runs", 2).to_dict("records")
    assert (row["measure"], row["value"]) == ("decades", row["decades"])


def test_configurations_of_one_label_are_not_mixed():
    both = pd.concat([TRIALS, TRIALS[TRIALS["hash"] == "b"].assign(hash="d", seed=lambda rows: rows["seed"] + 3)])
    with pytest.raises(ValueError, match=r"'t' has runs of several .* label 'light_per_heavy=4': hashes b, d"):
        effects(both, "heavy_runs", 2)


def test_what_a_claim_makes_of_an_effect():
    """At the end of the two: the third variant has ended before, and has no part in it."""
    figure = ablation_effect(TRIALS, "t", "light_per_heavy=4")
    assert figure.value == pytest.approx(0)
    assert (figure.low, figure.high, figure.n) == (pytest.approx(-1), pytest.approx(1), 3)
    with pytest.raises(Undecided, match="no runs of untruncated on t"):
        ablation_effect(TRIALS, "t", "untruncated")


def test_what_cannot_be_compared_says_so():
    with pytest.raises(ValueError, match="task 't' has no runs of the default"):
        effects(TRIALS[TRIALS["hash"] != "a"], "heavy_runs", 1)
    with pytest.raises(ValueError, match="cost must be one of heavy_runs, heavy_equivalents, got 'time'"):
        regrets(TRIALS, "time", 1)
    with pytest.raises(ValueError, match="got trials of gp_bo"):
        regrets(TRIALS.assign(method="gp_bo"), "heavy_runs", 1)
    with pytest.raises(ValueError, match="not on record"):
        regrets(TRIALS.assign(parameters=None), "heavy_runs", 1)


def test_records_of_a_run_are_labeled(tmp_path):
    for changes in ({}, {"start": "random"}):
        method = Spec("btao_joint", "baselines.btao.BTAOMethod", DEFAULTS | changes | {"n_init": 2})
        task = Spec("toy", "benchmarks.objectives.toy.Toy")
        run_experiment(Experiment(task, method, 0, Budget(heavy=2)), tmp_path)
    assert set(ablation.labels(load(tmp_path))) == {"n_init=2", "n_init=2, start=random"}


def test_the_effects_are_drawn_with_their_numbers(tmp_path, monkeypatch):
    monkeypatch.setitem(ablation.MOMENTS, "first proposal", lambda states, cost: 1.25)
    figure = ablation_plots.effects_figure(TRIALS[TRIALS["hash"] != "c"], path=tmp_path / "a.png")
    drawn = pd.read_csv(tmp_path / "a.csv")
    assert drawn["cost"].tolist() == ["heavy_runs", "heavy_equivalents"] * 2
    assert drawn["at"].tolist() == [1.25, 1.25, 2, 2.5]
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == ["light_per_heavy=4"]


def test_seeds_without_a_result_make_a_point_faint_and_one_seed_alone_none(monkeypatch):
    """A variant loses its heavy runs on some seeds."""
    monkeypatch.setitem(ablation.MOMENTS, "first proposal", lambda states, cost: 1)
    three = runs(a=({}, [[4.0], [3.0], [2.0]]), b=({"light_per_heavy": 4}, [[2.0], [2.0], [1.0]]))
    for lost, alphas in ((), [None]), ((0,), [ablation_plots.FAINT]), ((0, 1), []):
        trials = three[~((three["hash"] == "b") & three["heavy"] & three["seed"].isin(lost))]
        axes = ablation_plots.effects_figure(trials).axes[0]
        points = [line for line in axes.get_lines() if line.get_marker() == "o" and len(line.get_xdata())]
        assert [point.get_alpha() for point in points] == alphas
        equal = trials.assign(value=trials["value"].where(~trials["heavy"], 1.0), truth=1.0)
        axes = ablation_plots.effects_figure(equal).axes[0]
        ties = [line for line in axes.get_lines() if line.get_marker() == "$=$" and len(line.get_xdata())]
        assert {tie.get_alpha() for tie in ties} == set(alphas)


def test_effects_are_drawn_linearly_in_decades_or_percentage_points(monkeypatch):
    monkeypatch.setitem(ablation.MOMENTS, "first proposal", lambda states, cost: 1.25)
    for truth, unit in ((1.0, "decades of regret"), (None, "percentage points of error")):
        figure = ablation_plots.effects_figure(TRIALS[TRIALS["hash"] != "c"].assign(truth=truth))
        low, high = figure.axes[0].get_xlim()
        assert (figure.axes[0].get_xscale(), low) == ("linear", -high)
        assert figure.axes[-1].get_xlabel() == unit
        assert [text.get_text() for text in figure.legends[0].get_texts()] == list(ablation_plots.COST_NAMES.values())
        assert figure.get_supxlabel().replace("\n", " ") == ablation_plots.CAPTION


def test_an_effect_beyond_the_axis_is_an_arrow_with_its_number():
    effects = pd.DataFrame(
        {"task": "fcn", "moment": "end", "measure": "difference", "cost": "heavy_runs", "at": 12.0, "n": 3}
        | {"label": [f"n_init={number}" for number in range(2, 10)], "missing": 0, "equal": 0}
        | {"value": [0.001] * 7 + [0.5], "low": [-0.001] * 7 + [0.4], "high": [0.002] * 7 + [0.6]}
    )
    limit = ablation_plots._limit(effects)
    assert limit == pytest.approx(1.1 * 0.2)  # percentage points
    axes = Figure().add_subplot()
    ablation_plots._panel(axes, effects, effects["label"].tolist(), limit)
    assert [text.get_text() for text in axes.texts] == ["+50"]
    arrows = [one.get_xdata()[0] for one in axes.get_lines() if one.get_marker() == ">"]
    assert arrows == [limit]


def test_the_measures_are_parts_of_a_figure_in_which_all_numbers_can_be_read(monkeypatch):
    """Numbers of both costs in neighboring rows, to both sides, beside panels of a page's column."""
    labels = [*list(ablation_plots.variants())[:6], "square_root_beta=true"]
    measures = {"cnn": "difference", "currin": "decades", "fcn": "difference", "park": "decades", "svm": "difference"}

    def of_task(task):
        values = [0.001, -0.002, 0.5, -0.4, 0.1 if task == "cnn" else 9.9, -0.1 if task == "fcn" else 0.001, 0.001]
        one = pd.DataFrame({"label": labels, "value": values, "missing": 0, "equal": 0, "n": 3, "task": task})
        one = one.assign(measure=measures[task], low=one["value"] - 0.001, high=one["value"] + 0.001)
        keys = itertools.product(ablation.MOMENTS, ablation_plots.COST_STYLES)
        parts = [one.assign(moment=moment, cost=cost) for moment, cost in keys]
        return pd.concat([part.assign(at=[6.62, 9.26] * 3 + [7]) for part in parts])

    monkeypatch.setattr(ablation_plots, "at_moments", lambda trials: pd.concat(map(of_task, trials["task"])))
    figure = ablation_plots.effects_figure(pd.DataFrame({"task": list(measures)}))
    assert faults(figure) == []
    assert figure.get_figwidth() < 7.5
    titles = [axes.get_title().partition("\n")[0] for axes in figure.axes]
    ends = [f"{task}, {moment}" for moment in ablation.MOMENTS for task in ("currin", "park")]
    assert titles[:4] == ends and len(titles) == 10
    for axes in figure.axes:
        limit = max(abs(axes.get_xticks()))
        low, high = axes.get_xlim()
        beyond = [one for one in axes.texts if one.get_text()]
        assert beyond and all(low < one.xy[0] < high and abs(one.xy[0]) >= limit for one in beyond)


def test_the_first_proposal_is_the_heavy_run_after_the_start():
    """A start of two light runs, then two heavy ones; then two light ones a heavy one."""
    trials = runs(a=({}, [[4.0, 3.0, 2.0, 1.0, 0.0]] * 2))
    heavy = [False, False, True, True, False, False, True, False, False, True]
    budget = [4 if each else 1 for each in heavy]
    trials = trials.assign(heavy=heavy * 2, budget=budget * 2, iterations=budget * 2)
    assert ablation.first_proposal(trials, "heavy_runs") == 3
    assert ablation.first_proposal(trials, "heavy_equivalents") == 4.0
    with pytest.raises(ValueError, match="no run of the default has a heavy run beyond its start"):
        ablation.first_proposal(trials[trials["trial"] < 6], "heavy_runs")


def test_the_first_proposal_is_that_of_real_runs(tmp_path):
    method = Spec("btao_joint", "baselines.btao.BTAOMethod", DEFAULTS)
    task = Spec("toy", "benchmarks.objectives.toy.Toy")
    run_experiment(Experiment(task, method, 0, Budget(heavy=4)), tmp_path)
    assert ablation.first_proposal(load(tmp_path), "heavy_runs") == 4  # of one parameter: a start of three
