"""Short runs of random search on Currin: what the tests of records of one command share."""

from benchmarks.config.spec import Spec
from benchmarks.running.budget import Budget
from benchmarks.running.experiment import Experiment, run_experiment


def experiment(seed, heavy=3):
    method = Spec("random_search", "baselines.random_search.RandomSearch")
    return Experiment(Spec("currin", "benchmarks.objectives.currin.Currin"), method, seed, Budget(heavy=heavy))


def record(out):
    """Records of seeds 0 and 1 of a budget of 3, and of seed 0 of another budget; the folder."""
    for each in (experiment(0), experiment(1), experiment(0, heavy=2)):
        run_experiment(each, out)
    return out
