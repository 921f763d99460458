"""What the notebooks are made of: parameters that are used, and texts whose figures are computed."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import matplotlib
import nbformat
import pytest
from ladder_runs import ON_FUNCTIONS, climbed
from small_grid import save_grid

from benchmarks.analysis.ladder.steps import STEPS
from benchmarks.studies import reference, verification
from support import frame
from support import run as record

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
OF_RESULTS = [path for path in NOTEBOOKS if re.match(r"0[1-9]", path.stem)]
OF_SECONDS = [path for path in NOTEBOOKS if path.stem in ("03_svm", "04_fcn", "05_cnn")]
MOST_WORDS = 120  # of a text
# What of the verification is on record: a result that comes is to be named here.
VERIFIED = ["functions", "functions_tenth", "noise_1", "noise_5", "live"]
# Texts that are computed.
LEAST_SAID = {"01_toy_sine": 0, "02_synthetic": 3, "07_ablation": 3, "08_profile": 2, "09_verification": 4}
# Digits that are part of a name: in code, of the paper's figures, of a data set, of a formula that defines.
NAMES = re.compile(r"`[^`]*`|(Figure|Algorithm) \d|CIFAR-10|\$[^$]*(=|\\in)[^$]*\$")


def cells(path, kind):
    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == kind]


def code(cell):
    """The source of a cell without IPython's magics."""
    return "\n".join(line for line in cell.source.splitlines() if not line.startswith("%"))


def stem(path):
    return path.stem


@pytest.mark.parametrize("path", NOTEBOOKS, ids=stem)
def test_the_first_cell_of_code_has_the_parameters_and_the_others_use_them(path):
    first, *others = cells(path, "code")
    assert first.metadata.get("tags") == ["parameters"]
    names = set()
    for statement in ast.parse(first.source).body:
        assert isinstance(statement, ast.Assign), ast.unparse(statement)
        ast.literal_eval(statement.value)
        names |= {node.id for target in statement.targets for node in ast.walk(target) if isinstance(node, ast.Name)}
    nodes = [node for cell in others for node in ast.walk(ast.parse(code(cell)))]
    loaded = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    assert names and names - loaded == set()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=stem)
def test_what_follows_controls_is_kept_as_a_picture(path):
    assert "widgets" not in nbformat.read(path, as_version=4).metadata
    shown = [output.get("data", {}) for cell in cells(path, "code") for output in cell.outputs]
    assert not any("widget" in kind for data in shown for kind in data)
    for cell in cells(path, "code"):
        if "explore" in cell.source:
            assert [kind for output in cell.outputs for kind in output.data] == ["image/png", "text/plain"]


@pytest.mark.parametrize("path", OF_RESULTS, ids=stem)
def test_texts_are_short_and_their_figures_are_computed(path):
    outputs = [output for cell in cells(path, "code") for output in cell.outputs]
    said = [output.data["text/markdown"] for output in outputs if "text/markdown" in output.get("data", {})]
    typed = [cell.source for cell in cells(path, "markdown")]
    assert len(said) >= LEAST_SAID.get(path.stem, 4)
    for text in [*typed, *said]:
        assert len(text.split()) <= MOST_WORDS, text
    for text in typed:
        assert re.findall(r"\S*\d\S*", NAMES.sub("", text)) == [], text


@pytest.mark.parametrize("path", OF_SECONDS, ids=stem)
def test_figures_in_seconds_show_errors_as_texts_and_tables_do(path):
    source = "\n".join(cell.source for cell in cells(path, "code"))
    assert re.findall(r'curves_figure\(.*measure="(\w+)"', source) == ["value", "test_error", "value"]
    assert source.count("curves_figure(") == 3


@pytest.mark.parametrize("path", OF_SECONDS, ids=stem)
def test_the_figure_comes_first(path):
    _, first, *_ = cells(path, "code")
    assert any("image/png" in output.get("data", {}) for output in first.outputs)


def test_the_method_study_has_tasks_as_blocks():
    source = "\n".join(cell.source for cell in cells(FOLDER / "06_method_study.ipynb", "code"))
    assert re.findall(r"blocks\((.*?)\)", source) == ['distinct_ends, by="task"', 'others, by="task"']
    for figure in ("heat_map_figure", "rank_figure", "targets_figure"):
        assert figure in source


@pytest.mark.parametrize("name", ["06_method_study", "09_verification"])
def test_the_misleading_functions_are_those_that_figures_leave_out(name):
    there: dict = {}
    exec(cells(FOLDER / f"{name}.ipynb", "code")[0].source, there)
    assert there["misled"] == list(verification.MISLED)


def run(name, given):
    """The names of a notebook after its cells have run in this process with other parameters."""
    first, *others = cells(FOLDER / f"{name}.ipynb", "code")
    there: dict = {}
    exec(first.source, there)
    assert set(given) < set(there)
    there |= given
    for cell in others:
        exec(code(cell), there)
    return there


@pytest.fixture
def quiet(monkeypatch):
    """Figures without a window, and the committed results."""
    matplotlib.use("agg")
    monkeypatch.delenv("BTAO_SCALE", raising=False)


@pytest.mark.filterwarnings("ignore")
def test_a_notebook_follows_its_parameters(tmp_path, quiet):
    reference.load("svm").to_parquet(tmp_path / "svm.parquet")
    given = {"folder": str(tmp_path), "methods": ["btao", "random_search"], "seeds": [1, 4, 7]}
    there = run("03_svm", given)
    assert set(there["trials"]["method"]) == {"btao", "random_search"} and set(there["trials"]["seed"]) == {1, 4, 7}
    assert there["ends"].set_index("method")["n"].to_dict() == {"btao": 3, "random_search": 3}
    assert list(there["speeds"]) == ["btao"]
    assert "cannot tell" in set(there["verdicts"]["verdict"])


@pytest.mark.filterwarnings("ignore")
def test_a_notebook_of_runs_that_end_by_seconds_says_so_once_and_has_their_test_errors(tmp_path, quiet, capsys):
    trials = reference.load("svm", methods=["btao", "random_search"], seeds=3)
    trials.assign(train_budget=150.0, test_error=trials["value"] + 0.001).to_parquet(tmp_path / "svm.parquet")
    there = run("03_svm", {"folder": str(tmp_path)})
    assert there["equal"] and set(there["spent"]) == {150.0}
    assert "at its own end" not in there["table"]
    assert there["at"][3].set_index("label")["mean"].notna().all()  # what is reached by the end of all runs
    ends = there["by_label"]
    assert (ends["test_mean"] - ends["best_mean"]).tolist() == pytest.approx([0.001, 0.001])
    assert there["table"]["test error at the end"].str.startswith("0.0").all()
    assert set(ends["train_seconds"]) == {150.0}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("01_toy_sine", {"seed": 3, "seeds": 5}),
        ("02_synthetic", {"functions": ["park"], "methods": ["btao", "gp_bo"], "seeds": 3}),
        ("07_ablation", {"tasks": ["park"], "seeds": 5}),
    ],
)
def test_other_notebooks_run_with_other_parameters(quiet, name, given):
    there = run(name, given)
    assert sorted(there["trials"]["seed"].unique()) == list(range(given["seeds"]))


@pytest.mark.filterwarnings("ignore")
def test_the_method_study_says_who_is_left_out_and_takes_each_task_where_its_runs_end(tmp_path, quiet, capsys):
    three = ["btao", "gp_bo", "tpe"]
    reference.load("synthetic", methods=three[:2], seeds=3).to_parquet(tmp_path / "synthetic.parquet")
    by_seconds = reference.load("svm", methods=three, seeds=3).assign(train_budget=150.0)
    by_seconds.to_parquet(tmp_path / "svm.parquet")
    there = run("06_method_study", {"folder": str(tmp_path), "results": ["synthetic", "svm"]})
    assert "left out of all but the claims, as a task lacks them: tpe" in capsys.readouterr().out
    assert there["axes"] == {"heavy_equivalents": ["currin", "park"], "train_seconds": ["svm"]}
    assert there["speeds"].set_index("task")["against"].to_dict() == {
        **dict.fromkeys(["currin", "park"], "heavy_equivalents"),
        "svm": "train_seconds",
    }
    by_seconds[by_seconds["method"] == "tpe"].to_parquet(tmp_path / "svm.parquet")
    with pytest.raises(ValueError, match=r"results must have a method that all their tasks have, got \['synthetic'"):
        run("06_method_study", {"folder": str(tmp_path), "results": ["synthetic", "svm"]})


@pytest.mark.filterwarnings("ignore")
def test_the_method_study_takes_a_function_once_across_tasks_and_of_each_result_the_methods_it_has(tmp_path, quiet):
    reference.load("synthetic", methods=["btao", "gp_bo", "smac_gp"], seeds=3).to_parquet(
        tmp_path / "synthetic.parquet"
    )
    functions = reference.load("functions", methods=["btao", "gp_bo", "tpe"], seeds=3)
    functions[functions["task"].str.startswith("branin")].to_parquet(tmp_path / "functions.parquet")
    given = {"folder": str(tmp_path), "results": ["synthetic", "functions"], "seeds": 2}
    there = run("06_method_study", given | {"methods": ["btao", "gp_bo", "smac_gp"]})
    assert set(there["ends"]["task"]) == {"currin", "park", "branin", *there["misled"]}
    assert set(there["ends"]["label"]) == {"btao", "gp_bo"} and len(there["by_task"].values) == 3
    assert set(there["distinct_ends"]["task"]) == set(there["relative"]["task"]) == {"currin", "park", "branin"}
    assert set(there["speeds"]["task"]) == set(there["ends"]["task"])
    with pytest.raises(ValueError, match=r"methods must be of the results .*, got tep"):
        run("06_method_study", given | {"methods": ["btao", "tep"]})


@pytest.mark.filterwarnings("ignore")
def test_methods_are_set_beside_the_noise_of_the_table_that_they_replayed(tmp_path, quiet, capsys, monkeypatch):
    path = save_grid(tmp_path)
    (tmp_path / "repeats" / "1").mkdir(parents=True)
    save_grid(tmp_path / "repeats" / "1", seed=1)
    sections = dict.fromkeys(("fcn", "svm", "cnn"), path.stem)
    given = {"folder": str(tmp_path), **sections, "stand_ins": [], "noisy": [path.stem]}
    assert run("00_training_curves", given)["said"] == "The standard deviation between seeds of each configuration"
    assert "no runs of fcn on this table" in capsys.readouterr().out
    trials = reference.load("fcn", seeds=2).assign(data=f"digits (table {path.stem})")
    monkeypatch.setattr(reference, "load", lambda name: trials)
    there = run("00_training_curves", given)
    assert there["replayed"] and "right, what lies between the methods" in there["said"]


def test_the_verification_was_executed_with_the_results_on_record_and_none_of_them_is_lost(quiet):
    assert [name for name in verification.COMMANDS if reference.there(name)] == VERIFIED
    outputs = [output for cell in cells(FOLDER / "09_verification.ipynb", "code") for output in cell.outputs]
    printed = "".join(output.text for output in outputs if output.output_type == "stream")
    states = {name: state for state, name in re.findall(r"^(drawn|not recorded yet): (\w+)", printed, re.MULTILINE)}
    assert states == {name: "drawn" if name in VERIFIED else "not recorded yet" for name in verification.COMMANDS}


SEEDS = range(1000, 1008)


def of_functions(curves):
    """Runs of a result of functions: by task and method what the heavy runs of each seed find."""
    return frame(
        *(
            record("HHHH", values, method=method, task=task, seed=seed)
            for task, methods in curves.items()
            for method, values in methods.items()
            for seed in SEEDS
        )
    )


@pytest.fixture(scope="module")
def verified(tmp_path_factory):
    """The names of the verification after it ran with light runs of two costs, and with noise."""
    folder = tmp_path_factory.mktemp("results")
    twin, slow = [9.0, 1.0, 1.0, 1.0], [9.0, 8.0, 8.0, 8.0]
    both = {"gp_ei": twin, "tpe": slow}
    early, late, misled = [9.0, 0.5, 0.5, 0.5], [9.0, 9.0, 9.0, 0.5], [9.0, 1.5, 1.5, 1.5]
    fifth = {"branin": both | {"btao": early}, "park": both | {"btao": early}}
    tenth = {"branin": both | {"btao": late}, "park": {"gp_ei": twin, "btao": late}}
    shifted = {"branin_shifted": both | {"btao": misled}}
    of_functions(fifth | shifted).to_parquet(folder / "functions.parquet")
    of_functions(tenth | shifted).to_parquet(folder / "functions_tenth.parquet")
    noise = [
        record("HH", [0.1, 0.2], truth=[2.0, 1.0], method=method, seed=seed).assign(recommended=recommended)
        for method, recommended in (("btao", [0, 1]), ("gp_ei", [0, 0]))
        for seed in SEEDS
    ]
    frame(*noise).to_parquet(folder / "noise_5.parquet")
    matplotlib.use("agg")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("BTAO_SCALE", raising=False)
        return run("09_verification", {"folder": str(folder)})


@pytest.mark.filterwarnings("ignore")
def test_each_cost_of_light_runs_is_verified_by_itself_and_without_light_levels_that_mislead(verified):
    assert verified["tasks"] == {"1/5": 2, "1/10": 2}
    assert verified["wins"].loc["tpe"].to_dict() == {"1/5": "2 : 0 : 0", "1/10": "1 : 0 : 0"}
    tables, speeds = verified["tables"], verified["speeds"]
    assert tables["1/5"].loc["btao"].to_dict() == {0.25: 2.0, 0.5: 1.0, 0.75: 1.0, 1.0: 1.0}
    assert tables["1/10"].loc["btao"].to_dict() == {0.25: 2.0, 0.5: 3.0, 0.75: 3.0, 1.0: 1.0}
    assert speeds["1/5"].set_index("over")["speed_up"].to_dict() == {"gp_ei": 1.0, "tpe": 1.0}
    assert speeds["1/10"].set_index("over")["speed_up"].to_dict() == {"gp_ei": 0.5, "tpe": 0.5}
    assert verified["texts"] == {
        "1/5 (tasks: 2)": "not told from `gp_ei`, `tpe`",
        "1/10 (tasks: 2)": "slower than `gp_ei`, `tpe` (on 1)",
    }


@pytest.mark.filterwarnings("ignore")
def test_what_misleads_is_verified_beside_noise_which_is_judged_by_recommendations(verified):
    robust = {words: rows.set_index("task")["ratio"].to_dict() for words, rows in verified["robust"].items()}
    assert robust == {"1/5": {"branin_shifted": 1.5}, "1/10": {"branin_shifted": 1.5}, "noise 5%": {"currin": 0.5}}
    assert verified["drawn"]["task"].tolist() == ["branin_shifted (1/5)", "branin_shifted (1/10)", "currin (noise 5%)"]
    exceeding = {words: verified["exceeding"](rows) for words, rows in verified["robust"].items()}
    assert exceeding["1/5"] == "on 0 of 1; more on `branin_shifted`, by the whole interval on `branin_shifted`"
    assert exceeding["noise 5%"] == "on 1 of 1; more on none, by the whole interval on none"


@pytest.mark.filterwarnings("ignore")
def test_the_verification_shows_the_ladder(tmp_path, quiet):
    function = climbed(dict(zip(ON_FUNCTIONS, [1.0, 0.1, 0.1, 0.1, 0.5, 0.5, 0.05], strict=True)))
    frame(function, climbed(dict.fromkeys(range(len(STEPS)), 1.0), task="fcn")).to_parquet(tmp_path / "ladder.parquet")
    table = run("09_verification", {"folder": str(tmp_path)})["table"].set_index("step")
    assert table.loc["candidates by the heavy response", "regret, ratio"] == "0.316 [0.1, 1]"
    assert table["tasks"].tolist() == [1 if step.of_errors else 2 for step in STEPS]


def test_a_verification_without_results_says_so(tmp_path, quiet, capsys):
    assert run("09_verification", {"folder": str(tmp_path)})["judged"] == {}
    assert capsys.readouterr().out.count("not recorded yet") == 6
