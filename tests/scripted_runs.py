"""Runs of a scripted method on a square: what the tests of the loop share."""

import dataclasses
import math
from typing import ClassVar

from baselines.protocol import Capabilities, SearchExhausted, Trial
from benchmarks.data.source import DataSource
from benchmarks.objectives.protocol import Evaluation
from benchmarks.records.command import Command
from benchmarks.records.run_folder import RunFolder
from benchmarks.records.trials import TrialLog
from benchmarks.running.experiment import Budget, Experiment, Spec, run_experiment
from btao import Real, Space
from btao.training import Level

TIMES = ("train_seconds", "method_seconds", "time", "processor_seconds")


class Square:
    """Minimize x^2 + shift; `evaluate` can be made to misbehave at the k-th call of the process."""

    space = Space({"x": Real(-1.0, 1.0)})
    light = Level(3, patience=2)
    heavy = Level(7)
    levels = "any"
    delta_bounds = rho_bounds = (-math.inf, math.inf)
    data = None
    prepared: ClassVar[list] = []
    evaluated: ClassVar[list] = []
    accidents: ClassVar[dict] = {}

    def __init__(self, shift=0.0, consumed=None):
        self.optimum = shift
        self.consumed = consumed

    def prepare(self):
        self.prepared.append(len(self.evaluated))

    def evaluate(self, config, level, seed):
        self.evaluated.append((config, level, seed))
        outcome = self.accidents.get(len(self.evaluated) - 1)
        if isinstance(outcome, BaseException):
            raise outcome
        iterations = level.iterations if self.consumed is None else self.consumed
        return outcome or Evaluation(config["x"] ** 2 + self.optimum, iterations)

    def truth(self, config):
        return config["x"] ** 2 + self.optimum


class WithData(Square):
    data = DataSource("digits", "0" * 64, 10, 5)

    def __init__(self, folder=None):
        super().__init__()


class Script:
    """Grants the iterations of a plan, in turn; 7 are heavy. x depends on the seed and the values told."""

    capabilities = Capabilities(levels="two")
    accidents: ClassVar[dict] = {}

    def __init__(self, problem, seed, plan=(3, 3, 7), length=1000):
        self.problem, self.plan, self.length = problem, list(plan), length
        self.state = seed
        self.asked = 0

    def ask(self):
        if self.asked == self.length:
            raise SearchExhausted
        self.accident(("ask", self.asked))
        budget = self.plan[self.asked % len(self.plan)]
        trial = Trial(self.asked, {"x": math.sin(self.state)}, budget == 7, budget)
        self.asked += 1
        return trial

    def tell(self, trial, measurement):
        self.accident(("tell", trial.number))
        self.state += 1 if measurement.failed else 1 + measurement.value

    def accident(self, moment):
        if moment in self.accidents:
            raise self.accidents[moment]


SQUARE = Spec("square", f"{__name__}:Square")

SCRIPT = Spec("script", f"{__name__}:Script")

RANDOM = Spec("random_search", "baselines.random_search.RandomSearch")

EXPERIMENT = Experiment(SQUARE, SCRIPT, seed=4, budget=Budget(heavy=4))


COMMAND = Command("benchmarks.run", ("task=square", "seeds=[4]"))


def info(folder):
    return RunFolder(folder).info()


def run(experiment, out, on_trial=None):
    return run_experiment(experiment, out, command=COMMAND, on_trial=on_trial)


def change(experiment=EXPERIMENT, **changes):
    return dataclasses.replace(experiment, **changes)


def rows(experiment, out):
    with TrialLog(experiment.folder(out)) as log:
        return log.rows


def timeless(experiment, out):
    return [dataclasses.replace(row, **dict.fromkeys(TIMES, 0.0)) for row in rows(experiment, out)]
