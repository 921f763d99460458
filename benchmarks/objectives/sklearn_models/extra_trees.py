"""Extremely randomized trees on scikit-learn's breast cancer data; an iteration is a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.data.carried import Examples, ExampleSplit
from benchmarks.objectives.curve import State
from benchmarks.objectives.protocol import configuration_seed
from benchmarks.objectives.sklearn_models.model_task import ModelTask
from benchmarks.objectives.sklearn_models.model_training import ModelTraining, random_state
from btao import Categorical, Integer, Real, Space

# scikit-learn is imported when used: a class is asked for its parameters without it.
if TYPE_CHECKING:
    from sklearn.ensemble import ExtraTreesClassifier

PARTS = ("train", "validation", "test")


class ForestTraining(ModelTraining):
    """The training of scikit-learn's ExtraTreesClassifier, as forests of one tree whose answers are summed.

    The trees are those of one forest with all of them, as their seeds are drawn alike; but what earlier trees answer
    is not asked again after each new one, and need not be kept.

    Parameters
    ----------
    split : ExampleSplit
    config : dict
        Of the space of `ExtraTrees`.
    seed : int
        See `benchmarks.objectives.protocol.configuration_seed`.
    """

    def __init__(self, split: ExampleSplit, config: dict[str, Any], seed: int) -> None:
        super().__init__(split)
        self._arguments = config
        self._draws = np.random.RandomState(random_state(seed))
        self._n_trees = 0
        n_classes = int(split.train.y.max()) + 1
        # By part of the split: the sum of the trees' probabilities, and the trees whose answers are not in it yet.
        self._sums = {part: np.zeros((len(getattr(split, part).y), n_classes)) for part in PARTS}
        self._new: dict[str, list[ExtraTreesClassifier]] = {part: [] for part in PARTS}

    def train(self) -> None:
        """Grow a tree."""
        from sklearn.ensemble import ExtraTreesClassifier

        forest = ExtraTreesClassifier(n_estimators=1, random_state=self._draws, **self._arguments)
        forest.fit(self.split.train.x, self.split.train.y)
        self._n_trees += 1
        for trees in self._new.values():
            trees.append(forest)

    def classes_of(self, examples: Examples) -> NDArray[Any]:
        """See `ModelTraining`."""
        part = next(part for part in PARTS if getattr(self.split, part) is examples)
        return self._sum(part).argmax(axis=1)

    def _sum(self, part: str) -> NDArray[np.float64]:
        """The sum of all trees' probabilities on a part of the split, (n, classes)."""
        for forest in self._new[part]:
            self._sums[part] += forest.predict_proba(getattr(self.split, part).x)
        self._new[part].clear()
        return self._sums[part]

    def state(self) -> State:
        """The sums and the number of trees: the trees themselves answer nothing any more."""
        return {**{part: self._sum(part).copy() for part in PARTS}, "n_trees": np.array(self._n_trees)}

    def restore(self, state: State) -> None:
        """Go to where `state` was taken, the draws of seeds too."""
        for part, total in self._sums.items():
            total[...] = state[part]
        self._n_trees = int(state["n_trees"])
        self._draws.randint(np.iinfo(np.int32).max, size=self._n_trees)  # as scikit-learn draws the seeds of trees


class ExtraTrees(ModelTask):
    """Minimize the validation error over how the trees are grown, and on how many of the examples.

    The parameters are those of `ModelTask`.
    """

    dataset = "breast_cancer"
    space = Space(
        {
            "criterion": Categorical(["gini", "entropy"]),
            "max_depth": Integer(1, 16, log=True),
            "min_samples_leaf": Integer(1, 64),
            "max_features": Real(0.03, 1.0, log=True),
            "ccp_alpha": Real(1e-5, 1e-1, log=True),
            "bootstrap": Categorical([False, True]),
        }
    )

    def prepare(self) -> None:
        """Import scikit-learn and read the examples."""
        import sklearn.ensemble  # noqa: F401

        self.split  # noqa: B018

    def start(self, config: dict[str, Any], seed: int) -> ForestTraining:
        """See `CurveTask.start`."""
        return ForestTraining(self.split, config, configuration_seed(seed, config))
