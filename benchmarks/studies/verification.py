"""The runs that judge the rule that chooses levels by their rate: their commands, and what is kept of so many trials.

All methods spend the same iterations; on recorded tables of the ladder they have the same seconds of training, or make
equally many heavy runs where a table is no grid. No constant was chosen by these seeds; on the functions it was by
others, from 300 to 329. Two changes of the rule were left out by them: noise in the improvement, of all values and of
errors alone (btao/METHOD.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.analysis.ladder import steps

# pandas is imported when used: --help starts at once.
if TYPE_CHECKING:
    import pandas

FIRST = "btao"  # what is judged
METHODS = "method=[random_search,tpe,gp_bo,gp_ei,smac,bohb,hyperband,btao_paper,btao_joint,btao]"
SEEDS = f"seeds=[{','.join(map(str, range(1000, 1030)))}]"
# The intervals of the ladder are those of other tasks more than of other seeds; all seeds would take five hours.
LADDER_SEEDS = f"seeds=[{','.join(map(str, range(1000, 1010)))}]"
FUNCTIONS = (
    "task=forrester,branin,camel,bohachevsky,hartmann3,park1,hartmann6,borehole,trid,"
    "branin_independent,branin_opposite,branin_shifted"
)
OF_PAPER = "toy,currin,park"  # the paper's functions
MISLED = ("branin_independent", "branin_opposite", "branin_shifted")  # they have the heavy runs of branin
# The range of heavy values, from least to largest.
RANGES = {"forrester": 21.85, "branin": 307.7, "hartmann3": 3.863, "park1": 25.59, "hartmann6": 1.713}
HEAVY_ITERATIONS = {"gradient_boosting": 20, "extra_trees": 100, "linear_sgd": 50, "mlp": 15}  # of live tasks
LIVE_BUDGET = 15  # heavy runs
DATA = {"mlp": ["data=mnist"]}  # no other images in their place; the other live tasks have scikit-learn's own data
RECORDED = ("svm", "fcn", "cnn")  # the tasks that are answered from the largest of their tables
TABLE_BUDGET = "budget.heavy=20"


def _noisy(share: float) -> list[list[str]]:
    """Functions of which a share of the range is the standard deviation of noise."""
    methods = "method=[gp_bo,gp_ei,btao_joint,btao]"
    noise = {task: f"task.parameters.noise={share * width:.4g}" for task, width in RANGES.items()}
    return [[f"task={task}", noise[task], "budget.iterations=200", methods, SEEDS] for task in RANGES]


# The commands of `benchmarks.run` behind each result, less out. A light run costs a fifth of a heavy one but in the
# second, where it costs a tenth: both budgets are 40 heavy runs.
COMMANDS = {
    "functions": [["-m", f"{FUNCTIONS},{OF_PAPER}", "budget.iterations=200", METHODS, SEEDS]],
    "functions_tenth": [
        ["-m", FUNCTIONS, "task.parameters.heavy_iterations=10", "budget.iterations=400", METHODS, SEEDS]
    ],
    "noise_1": _noisy(0.01),
    "noise_5": _noisy(0.05),
    "live": [
        [f"task={task}", f"budget.iterations={LIVE_BUDGET * heavy}", "cache=true", *DATA.get(task, []), METHODS, SEEDS]
        for task, heavy in HEAVY_ITERATIONS.items()
    ],
    "ladder": [
        *steps.commands(["-m", FUNCTIONS, "budget.iterations=200", LADDER_SEEDS], errors=False),
        *(
            command
            for task in RECORDED
            for command in steps.commands([f"task={task}", "source=table", TABLE_BUDGET, LADDER_SEEDS], errors=True)
        ),
    ],
}
BY_NAME = ("functions_tenth", "noise_1", "noise_5", "ladder")  # made where they are named: notebook 09 alone draws them
# What is changed to try them, as in `reference.SMALL`.
QUICK = {"method": "[random_search,gp_bo,gp_ei,btao]"}
SMALL = {
    "functions": {"task": "forrester,branin_shifted", "budget.iterations": "40", **QUICK},
    "functions_tenth": {"task": "forrester,branin_shifted", "budget.iterations": "80", **QUICK},
    **{noise: {"budget.iterations": "40", "method": "[gp_ei,btao]"} for noise in ("noise_1", "noise_5")},
    "live": {"scale": "smoke", "budget.iterations": "40", "data": "auto", **QUICK},
    "ladder": {"task": "forrester,branin", "budget.iterations": "40"},
}
# How many of the commands are made to try them, the first: of the ladder all steps on functions.
SMALL_COMMANDS = {**dict.fromkeys(COMMANDS, 2), "ladder": len(steps.commands([], errors=False))}


def slim(trials: pandas.DataFrame) -> pandas.DataFrame:
    """Trials as `records.load` gives them less what no analysis of runs reads: a tenth of the size on disk.

    Without configurations; seconds in milliseconds; the truth of heavy runs alone, and only where it is not the value.
    What is rounded is the sum over the trials of a run so far: of a trial alone a fast method would have nothing left.
    """
    from benchmarks.analysis.incumbents import RUN  # which imports pandas

    kept = trials[[name for name in trials.columns if not name.startswith("config.")]]
    of_trials = ["train_seconds", "method_seconds"]
    runs = [kept[name] for name in RUN]
    spent = kept[of_trials].groupby(runs).cumsum().round(3)
    seconds = (spent - spent.groupby(runs).shift(fill_value=0.0)).round(3)
    told = kept["heavy"] & (kept["truth"] != kept["value"])
    return kept.assign(truth=kept["truth"].where(told), time=kept["time"].round(3), **seconds)
