"""The README's examples run as they stand, its numbers are those of the results, and what texts name is there."""

import ast
import pkgutil
import re
import runpy
import tomllib
from pathlib import Path

import pytest

import benchmarks
from benchmarks import study
from benchmarks.analysis.incumbents import incumbents
from benchmarks.analysis.scores import REGRET_FLOOR
from benchmarks.analysis.targets import speed_ups
from benchmarks.studies import verification

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
MOST_LINES, MOST_CHARACTERS = 200, 120
TEXTS = ("README.md", "benchmarks/README.md", "benchmarks/__init__.py")


@pytest.fixture(scope="module")
def summaries():
    """By task what the committed reference results come to, by method: what the cell of the README prints."""
    with pytest.MonkeyPatch.context() as patched:
        patched.delenv("BTAO_SCALE", raising=False)
        tables = [study.reference(name).summary() for name in ("svm", "fcn", "cnn", "synthetic")]
    return {task: rows.set_index("method") for table in tables for task, rows in table.groupby("task")}


def text_of(section):
    return README.partition(f"## {section}\n")[2].partition("\n## ")[0]


def example(section):
    (code,) = re.findall(r"```python\n(.*?)```", text_of(section), flags=re.DOTALL)
    return code


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs the example of a section as a script in an empty folder; its names."""

    def run(section):
        (tmp_path / "example.py").write_text(example(section))
        monkeypatch.chdir(tmp_path)
        return runpy.run_path("example.py", run_name="__main__")

    return run


def test_every_example_is_run_here():
    sections = ("A notebook", "Add a method", "Add a task", "Tune your own model")
    assert len(re.findall("```python", README)) == len([example(section) for section in sections])


def test_the_example_of_tuning_finds_the_best_rate(run, capsys):
    result = run("Tune your own model")["result"]
    assert result.config["rate"] == pytest.approx(0.3, abs=1e-3)
    assert capsys.readouterr().out == f"{result.config} {result.value}\n"


def test_the_method_is_whole_and_better_than_random_search(run):
    mine = run("Add a method")["mine"]
    assert mine.missing == () and dict(mine.trials["method"].value_counts()) == {
        "EvolutionStrategy": 60,
        "random_search": 60,
    }
    regrets = mine.summary().set_index("label")["regret_mean"]
    assert regrets["EvolutionStrategy"] < regrets["random_search"]


def test_the_task_is_whole_and_has_a_parameter_that_is_there_at_times(run):
    own = run("Add a task")["own"]
    assert own.missing == () and set(own.methods) == {"random_search", "btao"}
    there = own.trials["config.l1_ratio"].notna()
    assert (there == (own.trials["config.penalty"] == "elasticnet")).all() and there.any() and not there.all()
    assert own.summary()["best_mean"].max() < 0.1
    light, heavy = (own.trials[own.trials["heavy"] == level]["iterations"].unique() for level in (False, True))
    assert (light.tolist(), heavy.tolist()) == ([1], [8])


def test_the_cell_of_the_notebook_draws_the_picture_below_it(run, capsys, summaries):
    run("A notebook")
    printed = capsys.readouterr().out
    for task, rows in summaries.items():
        assert printed.count(f" {task} ") == len(rows)
    assert "](results/reference/cnn.png)" in text_of("A notebook")


def test_the_table_of_results_is_what_the_committed_results_come_to(summaries):
    head, _, *rows = [line for line in text_of("A result").splitlines() if line.startswith("|")]
    methods = re.findall(r"`(\w+)`", head)
    assert len(rows) == 3
    for row in rows:
        (task,) = re.findall(r"^\| `(\w+)`", row)
        mine = summaries[task].loc[methods]
        cells = [f"{each.best_mean:.4f} in {each.train_seconds:.0f} s" for each in mine.itertuples()]
        assert row.split(" | ")[1:] == [*cells[:-1], f"{cells[-1]} |"], task


def medians(name):
    """By task and method the median of the best values of a reference result, in regret where there is an optimum.

    No run has more iterations than the least budget and one heavy run, which may be the one that ends it.
    """
    trials = study.reference(name).trials
    spent = trials.groupby(["task", "method", "seed"])["iterations"].sum().unstack("task")
    one = trials[trials["heavy"]].groupby("task")["budget"].max()
    assert ((spent.max() - spent.min()) <= one).all() and spent.shape == (300, trials["task"].nunique())
    trials = trials[trials["heavy"]]
    reached = trials["value"] - trials["optimum"].fillna(0.0)
    return (
        reached.groupby([trials["task"], trials["method"], trials["seed"]])
        .min()
        .groupby(level=[0, 1])
        .median()
        .unstack()
    )


def test_what_is_said_of_the_results_is_so(summaries):
    said = " ".join(text_of("A result").split())
    four = {task: summaries[task].loc[["random_search", "gp_bo", "bohb", "btao"]] for task in ("svm", "fcn", "cnn")}
    assert "`svm` and `fcn` in equal seconds of training" in said
    assert all(four[task]["train_seconds"].nunique() == 1 for task in ("svm", "fcn"))
    assert "On `cnn` BTAO has the lowest mean of these four, and takes longest" in said
    assert four["cnn"]["best_mean"].idxmin() == four["cnn"]["train_seconds"].idxmax() == "btao"
    assert "On `svm` it ends like GP-BO, and is there first" in said
    states = {task: incumbents(study.reference(task).trials) for task in ("svm", "fcn")}
    at_best = {
        task: (runs.groupby(["method", "seed"])["regret"].last() == 0).groupby("method").sum()
        for task, runs in states.items()
    }
    assert at_best["svm"]["btao"] == at_best["svm"]["gp_bo"] == 30
    assert speed_ups(states["svm"], "btao", "train_seconds", share=1.0).set_index("over").loc["gp_bo", "low"] > 1
    assert "On `fcn` their means are alike, but GP-BO finds the best network more often" in said
    low, high = four["fcn"]["best_low"], four["fcn"]["best_high"]
    assert low["btao"] <= high["gp_bo"] and low["gp_bo"] <= high["btao"]
    assert at_best["fcn"]["gp_bo"] > 2 * at_best["fcn"]["btao"]
    assert "and `gp_ei`, BTAO without light runs, most often" in said and at_best["fcn"].idxmax() == "gp_ei"
    assert "BOHB pays again for what it repeats, about half of its seconds" in said
    for task in ("svm", "fcn"):
        bohb = study.reference(task).trials.query("method == 'bohb'")
        again = bohb[["seed", "budget", *bohb.columns[bohb.columns.str.startswith("config.")]]].duplicated()
        assert 0.4 < bohb.loc[again, "train_seconds"].sum() / bohb["train_seconds"].sum() < 0.6
    assert "BTAO ends first of [all ten methods]" in said
    assert "on each of four models of scikit-learn and, by mean rank, on twelve functions" in said
    ends = medians("functions")
    misled = ends.index.str.startswith("branin_")
    ranks = ends.clip(lower=REGRET_FLOOR).rank(axis=1)
    assert (~misled).sum() == 12 and ranks[~misled].mean().idxmin() == "btao"
    assert "on nine of which it was developed" in said and len(verification.FUNCTIONS.split(",")) - misled.sum() == 9
    assert "not so on all where light runs mislead" in said and set(ranks.loc[misled, "btao"]) > {1.0}
    ends = medians("live")
    assert len(ends) == 4 and (ends.drop(columns="btao").min(axis=1) > ends["btao"]).all()


def test_every_number_of_the_text_is_computed(summaries):
    """Those outside of code and tables, in their order: each is of the committed results, or of pyproject.toml."""
    text = re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)|^\|.*?$", "", README, flags=re.DOTALL | re.MULTILINE)
    versions = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["classifiers"]
    pythons = re.findall(r"Python :: (3\.\d+)", " ".join(versions))
    trained = {task: summaries[task]["heavy_equivalents"] for task in ("currin", "park")}
    assert trained["currin"]["gp_bo"] == trained["park"]["gp_bo"]
    ends = [f"{trained[task]['btao']:.0f}" for task in trained] + [f"{trained['park']['gp_bo']:g}"]
    (seeds,) = {each for task in ("svm", "fcn", "cnn") for each in summaries[task]["seeds"]}
    heavy = {runs / seeds for runs in summaries["cnn"].loc[["random_search", "gp_bo", "btao"], "heavy_runs"]}
    assert re.findall(r"(?<!-)\d+(?:\.\d+)*", text) == [*ends, pythons[0], pythons[-1], f"{seeds}", f"{heavy.pop():g}"]
    assert not heavy


def test_the_readme_is_short():
    assert len(README.splitlines()) <= MOST_LINES


@pytest.mark.parametrize("name", TEXTS)
def test_no_line_is_long(name):
    assert [line for line in (ROOT / name).read_text().splitlines() if len(line) > MOST_CHARACTERS] == []


@pytest.mark.parametrize("name", TEXTS)
def test_files_that_a_text_names_are_there(name):
    """Links, and paths of code, from the root, from the text's folder or below the rooms that it speaks of."""
    text = (ROOT / name).read_text()
    links = re.findall(r"\]\((?!http|#)([^)#]+)\)", text)
    assert [link for link in links if not (ROOT / name).parent.joinpath(link).exists()] == []
    paths = re.findall(r"(?<![\w/.<>-])(?:\w+/)*\w+\.(?:py|ipynb|yaml)\b(?!/)", text)
    assert paths
    assert [path for path in paths if not [*ROOT.glob(f"b*/**/{path}"), *ROOT.glob(path)]] == []


@pytest.mark.parametrize("name", TEXTS)
def test_modules_that_a_text_runs_are_there(name):
    for module in re.findall(r"-m (benchmarks\.\w+)", (ROOT / name).read_text()):
        assert (ROOT / f"{module.replace('.', '/')}.py").exists(), module


def test_names_of_the_map_are_there():
    """Every dotted name that begins with a room: a module, or what a module defines."""
    rooms = [path.parent.name for path in (ROOT / "benchmarks").glob("*/__init__.py")]
    text = ast.get_docstring(ast.parse((ROOT / "benchmarks" / "__init__.py").read_text()))
    names = set(re.findall(rf"(?<![\w./])(?:{'|'.join(rooms)})(?:\.\w+)+(?![\w/])", text))
    names = {name for name in names if not name.endswith(".py")}
    assert len(names) > 20
    for name in names:
        pkgutil.resolve_name(f"{benchmarks.__name__}.{name}")
