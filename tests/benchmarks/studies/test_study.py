"""The object that a notebook holds: its views, the sum of two, and its report."""

import pandas as pd
import pytest

from benchmarks.reporting.latex import latex
from benchmarks.studies.study import Study
from benchmarks.studies.study_sum import MissingRun, several_settings
from benchmarks.studies.study_table import unequal_budgets
from support import frame, run

LINES = ("currin, heavy=3",)


def of(*runs, methods=("btao", "tpe"), missing=(), planned=None):
    return Study(frame(*runs), LINES, methods, planned or {}, missing)


@pytest.fixture
def two():
    return of(
        *(run("LHH", [1.0, 0.5, 0.4], seed=seed, method="btao", hash="aaaa1111") for seed in range(2)),
        *(run("HH", [0.9, 0.8 + seed / 10], seed=seed, method="tpe", hash="bbbb2222") for seed in range(2)),
    )


def test_curves_summary_and_ranks(two):
    curves = two.curves()
    assert set(curves["measure"]) == {"regret"}
    last = curves.groupby("label")["mean"].last()
    assert last["btao"] == pytest.approx(0.4) and last["tpe"] == pytest.approx(0.85)
    assert two.curves("heavy_runs", measure="value")["heavy_runs"].max() == 2
    assert two.summary().set_index("method")["best_mean"].to_dict() == pytest.approx({"btao": 0.4, "tpe": 0.85})
    with pytest.warns(UserWarning, match="1 task only"):
        ranks = two.ranks()
    assert ranks[["label", "rank", "blocks"]].to_numpy().tolist() == [["btao", 1.0, 2], ["tpe", 2.0, 2]]
    with pytest.raises(ValueError, match="cost"):
        two.curves("money")


def test_a_notebook_shows_what_was_run_what_is_missing_and_a_table(two):
    html = of(*[two.trials], missing=("tpe, seed 2: OSError: no <disk>",), planned={("currin", "tpe"): 3})._repr_html_()
    assert "<p>currin, heavy=3</p>" in html
    assert "1 run has no result" in html and "OSError: no &lt;disk&gt;" in html
    assert "2 of 3" in html and "0.85" in html


def test_a_table_has_the_test_errors_where_they_are_on_record(two):
    html = of(two.trials.assign(test_error=0.125))._repr_html_()
    assert "test error: mean [range]" in html and html.count("0.125 [0.125, 0.125]") == 2
    assert "test error" not in two._repr_html_()


def test_a_method_without_a_run_that_is_done_has_a_row(two):
    html = of(two.trials, methods=("btao", "tpe", "gp_bo"), planned={("currin", "gp_bo"): 5})._repr_html_()
    assert "gp_bo" in html and "0 of 5" in html


def test_many_missing_runs_are_not_all_shown(two):
    html = of(two.trials, missing=tuple(f"tpe, seed {seed}" for seed in range(14)))._repr_html_()
    assert "tpe, seed 9" in html and "tpe, seed 10" not in html and "and 4 more" in html


def test_a_study_without_a_run_says_so():
    empty = Study(frame(run("", [])), LINES, ("btao",), {("currin", "btao"): 2}, ("btao, seed 0: failed",))
    assert "0 of 2" in empty._repr_html_()
    views = (empty.curves, empty.summary, empty.ranks, empty.plot, empty.explore, empty.latex, empty.targets)
    for view in (*views, lambda: empty.report("study.html")):
        with pytest.raises(ValueError, match=r"^no run of this study is done; btao, seed 0: failed$"):
            view()
    assert repr(empty) == "Study(currin, heavy=3: 0 runs, 1 missing)"


def test_records_that_contradict_each_other_are_told(two):
    below = of(two.trials.assign(optimum=5.0))
    assert "There is no table: NEGATIVE REGRET" in below._repr_html_()


def test_a_sum_has_the_runs_of_both_once(two):
    more = Study(frame(run("HH", [0.3, 0.2], method="mine", hash="cccc3333"), two.trials), ("mine",), ("mine", "btao"))
    both = two + more
    assert both.titles == ("currin, heavy=3", "mine") and both.methods == ("btao", "tpe", "mine")
    assert len(both.trials) == len(two.trials) + 2
    assert list(both.labels.values()) == ["btao", "tpe", "mine"]
    assert list((more + two).labels.values()) == ["mine", "btao", "tpe"]
    with pytest.raises(TypeError):
        two + 3


def test_lines_of_what_is_missing_are_each_of_one_run(two):
    run_of = ("currin", "tpe", "bbbb2222", 2)
    first = of(two.trials, missing=("skipped: smac", MissingRun.of(run_of, "truncated")))
    again = of(two.trials, missing=("skipped: smac", MissingRun.of(run_of, "failed: OSError")))
    assert (first + again).missing == ("skipped: smac", "currin, tpe, seed 2: failed: OSError")
    done = of(run("HH", [0.9, 0.8], seed=2, method="tpe", hash="bbbb2222"))
    assert (first + done).missing == (done + first).missing == ("skipped: smac",)
    other_budget = of(run("HH", [0.9, 0.8], seed=2, method="tpe", hash="cccc3333"))
    assert (other_budget + first).missing == first.missing


def test_settings_are_cautioned_about_where_more_than_their_budgets_differ(two):
    shared = {"task": {"name": "currin", "parameters": {"noise": 0.0}}, "budget": {"heavy": 2}, "threads": 1}
    same = {"btao-aaaa1111": shared, "tpe-bbbb2222": shared | {"budget": {"heavy": 3}}}
    assert list(several_settings(two.trials, same)) == []
    other = same | {"tpe-bbbb2222": shared | {"threads": 2, "data": None}}
    assert list(several_settings(two.trials, other)) == [
        "currin: the runs are of 2 settings, whose figures do not compare: threads=1 (btao); threads=2 (tpe)"
    ]
    assert list(several_settings(two.trials, {})) == []
    assert list(several_settings(two.trials, {"btao-aaaa1111": shared})) == [
        "currin: the settings of these runs are not known, nor whether they compare: tpe"
    ]


def test_a_run_that_both_have_is_taken_whole_from_the_first():
    short = of(run("HH", [0.3, 0.2], method="mine", hash="cccc3333"), methods=("mine",))
    long = of(run("HHH", [0.3, 0.25, 0.1], method="mine", hash="cccc3333"), methods=("mine",))
    assert list((short + long).trials["value"]) == [0.3, 0.2]
    assert list((long + short).trials["value"]) == [0.3, 0.25, 0.1]


def test_a_sum_of_two_budgets_is_cautioned_about(two):
    assert two.cautions == []
    with pytest.warns(UserWarning, match=r"^currin: the runs have not one budget \(2 to 3 heavy runs a seed\)"):
        both = two + of(run("HHH", [0.3, 0.2, 0.1], method="mine", hash="c"), methods=("mine",))
    (line,) = both.cautions
    assert line.startswith("currin: the runs have not one budget (2 to 3 heavy runs a seed), so compare them by")
    seconds = [run("H" * n, [0.5] * n, method=name, hash=name) for n, name in ((2, "btao"), (3, "tpe"))]
    assert of(*(each.assign(train_budget=9.0) for each in seconds)).cautions == []
    mixed = of(seconds[0].assign(train_budget=9.0), seconds[1].assign(train_budget=8.0))
    iterations = [run(levels, [0.5] * len(levels), method=m, hash=m) for levels, m in (("HHH", "a"), ("LLLHHL", "b"))]
    assert of(*iterations, methods=("a", "b")).cautions == []  # 15 and 14: what was left was too little for a heavy one
    assert "not one budget" in mixed._repr_html_() and mixed.latex().startswith("% currin: the runs have not")


def test_runs_of_one_budget_have_spent_alike_whatever_their_heavy_runs_are(two):
    shared = {"task": {"name": "currin", "parameters": {}}, "budget": {"iterations": 12, "heavy": None}}
    other = shared | {"budget": {"iterations": 12, "heavy": 2}}
    trials = frame(two.trials, run("HHH", [0.3, 0.2, 0.1], method="mine", hash="c"))
    settings = dict.fromkeys(("btao-aaaa1111", "tpe-bbbb2222", "mine-c"), shared)
    assert unequal_budgets(trials, settings) == []
    for unlike in (settings | {"mine-c": other}, {"tpe-bbbb2222": shared}, {}):
        (line,) = unequal_budgets(trials, unlike)
        assert "the runs have not one budget (2 to 3 heavy runs a seed)" in line
    assert unequal_budgets(two.trials, {"tpe-bbbb2222": shared}) == []


def test_heavy_runs_are_counted_by_run_where_a_method_has_two_budgets():
    trials = frame(run("HHHH", [0.4, 0.3, 0.2, 0.1], hash="a"), run("HL", [0.5, 0.1], hash="b"))
    settings = {f"btao-{hash_}": {"budget": {"heavy": heavy}} for hash_, heavy in (("a", 4), ("b", 1))}
    (line,) = unequal_budgets(trials, settings)
    assert "the runs have not one budget (1 to 4 heavy runs a seed)" in line


def test_a_plot_has_the_methods_in_their_order(two, tmp_path):
    figure = two.plot(["train_seconds", "heavy_runs"], path=tmp_path / "two.png", title="mine")
    assert figure.get_suptitle() == "mine"
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert [text.partition(" ")[0] for text in texts] == ["btao", "tpe"]
    assert len(figure.axes) == 2 and (tmp_path / "two.csv").exists()


def test_ranks_over_time_targets_and_tasks_are_tables_and_figures(two, tmp_path):
    ranks = two.ranks_over_time("heavy_runs").groupby("label")["rank"].last()
    assert ranks.to_dict() == {"btao": 1.0, "tpe": 2.0}
    shares = two.targets().groupby("label")["reached"].last()
    assert shares["btao"] == pytest.approx(1.0) and shares["tpe"] < 0.5
    table = two.per_task("btao").set_index("label")
    assert table["value"].to_dict() == pytest.approx({"btao": 0.4, "tpe": 0.85}) and table.loc["tpe", "losses"] == 2
    for name, draw in {"ranks": two.plot_ranks, "targets": two.plot_targets, "map": two.heat_map}.items():
        draw(path=tmp_path / f"{name}.pdf")
        assert (tmp_path / f"{name}.pdf").stat().st_size > 1000
    drawn = pd.read_csv(tmp_path / "map.csv").set_index("label")["value"]
    assert drawn.to_dict() == pytest.approx({"btao": 0.4, "tpe": 0.85})
    assert set(pd.read_csv(tmp_path / "ranks.csv")["against"]) == {"heavy_equivalents"}


def test_a_report_is_one_page_with_figures_beside_it(two, tmp_path):
    page = two.report(tmp_path / "two.html").read_text()
    assert page.startswith("<!DOCTYPE html>") and page.count("data:image/png") == 2 and "mean rank" in page
    assert (tmp_path / "two" / "seconds.csv").exists()
    text = two.report(str(tmp_path / "two.md")).read_text()
    assert "(two/evaluations.png)" in text
    with pytest.raises(ValueError, match=r"path=two.pdf: give a name that ends in .html or .md"):
        two.report("two.pdf")


def test_a_table_in_latex_is_that_of_its_trials(two, tmp_path):
    text = two.latex(tmp_path / "two.tex", spread="std")
    assert (tmp_path / "two.tex").read_text() == text == latex(two.trials, spread="std")
    assert r"btao & $\mathbf{0.4}$ $\pm\,0$ \\" in text.splitlines()
