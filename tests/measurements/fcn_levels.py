"""On a design of FCN configurations: is y_h <= y_l, and does a heavy run that continues equal one in one go?

    BTAO_DATA=FOLDER OMP_NUM_THREADS=1 python tests/measurements/fcn_levels.py [--n 50] [--scale laptop]

Every configuration of a scrambled Sobol design is trained three times: light, then heavy from the
state that was kept in a file, then heavy from the start. Last come the seconds between two trials of a
run, with all that the suite does there: the method, the record, the state.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import statistics
import tempfile
import time
from pathlib import Path

import yaml
from scipy.stats import qmc

from benchmarks.config.spec import Spec
from benchmarks.objectives.curve import Past
from benchmarks.objectives.fcn import FCN
from benchmarks.objectives.protocol import Curve
from benchmarks.running.budget import Budget
from benchmarks.running.continuation import StateFolder
from benchmarks.running.experiment import Experiment, run_experiment

CONF = Path(__file__).parents[2] / "conf" / "task" / "fcn.yaml"
HEAVY = 10


def main() -> None:
    """Print what was found; the exit status says whether both hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=50, help="configurations")
    parser.add_argument("--scale", default="laptop", choices=["smoke", "laptop"])
    options = parser.parse_args()
    conf = yaml.safe_load(CONF.read_text())
    parameters = conf["parameters"] | conf["scales"][options.scale]["parameters"]
    worse, different = levels(FCN(**parameters), options.n)
    between(parameters)
    raise SystemExit(bool(worse or different))


def levels(task: FCN, n: int) -> tuple[int, int]:
    """The numbers of configurations with y_h > y_l, and of those whose continued curve is another."""
    task.prepare()
    print(f"{task.data.name}: {task.data.n_train} training images")
    worse = different = gained = stopped = 0
    for point in qmc.Sobol(task.space.dim, rng=0).random(n):
        config = task.space.from_unit(point)
        with tempfile.TemporaryDirectory() as folder:
            states = StateFolder(Path(folder) / "states")
            light = task.evaluate(config, task.light, 0, Past(checkpoints=states))
            assert states.load(config, light.iterations) is not None
            rest = task.evaluate(config, task.heavy, 0, Past(light.curve, states))
        whole = task.evaluate(config, task.heavy, 0)
        joined: Curve = light.curve + rest.curve
        same = (joined.validation_errors, joined.training_errors, rest.value) == (
            whole.curve.validation_errors,
            whole.curve.training_errors,
            whole.value,
        )
        worse += rest.value > light.value
        gained += rest.value < light.value
        stopped += light.iterations < task.light.iterations
        different += not same
    print(
        f"{n} configurations: y_h > y_l on {worse}, y_h < y_l on {gained}; the continued curve is another one on "
        f"{different}; {stopped} light runs stopped before iteration {task.light.iterations}"
    )
    return worse, different


def between(parameters: dict[str, object]) -> None:
    """Print the seconds between the trainings of two trials in a real run; those of compilation are not among them."""
    evaluations: list[tuple[float, float]] = []  # start and end of each
    states: list[float] = []  # seconds of keeping and of loading states, which `evaluate` does

    def timed(function):
        @functools.wraps(function)
        def call(*arguments):
            started = time.perf_counter()
            try:
                return function(*arguments)
            finally:
                states[-1] += time.perf_counter() - started

        return call

    class Timed(FCN):
        def evaluate(self, *arguments, **named):
            states.append(0.0)
            started = time.perf_counter()
            try:
                return super().evaluate(*arguments, **named)
            finally:
                evaluations.append((started, time.perf_counter()))

    globals()["Timed"] = Timed
    StateFolder.save, StateFolder.load = timed(StateFolder.save), timed(StateFolder.load)
    method = Spec("btao_joint", "baselines.btao.BTAOMethod")
    task = Spec("fcn", f"{__name__}:Timed", parameters)
    each = Experiment(task, method, 0, Budget(heavy=HEAVY), data=FCN(**parameters).data)
    with tempfile.TemporaryDirectory() as folder:
        run_experiment(each, folder)
    pairs = itertools.pairwise(evaluations)
    gaps = [1000 * (begin - end + kept) for ((_, end), (begin, _)), kept in zip(pairs, states, strict=False)]
    median, most = statistics.median(gaps), max(gaps)
    print(f"between the {len(evaluations)} trials of BTAO: {median:.0f} ms (median), {most:.0f} ms at most")


if __name__ == "__main__":
    main()
