"""Gradient boosting of trees on histograms, on scikit-learn's digits; an iteration is a tree for each class."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.data.carried import Examples, ExampleSplit
from benchmarks.objectives.curve import State
from benchmarks.objectives.protocol import configuration_seed
from benchmarks.objectives.sklearn_models.model_task import ModelTask
from benchmarks.objectives.sklearn_models.model_training import ModelTraining, random_state
from btao import Categorical, Integer, Real, Space

# scikit-learn is imported when used: a class is asked for its parameters without it.


class BoostingTraining(ModelTraining):
    """The training of scikit-learn's HistGradientBoostingClassifier, a stage at a time by its `warm_start`.

    Parameters
    ----------
    split : ExampleSplit
    config : dict
        Of the space of `GradientBoosting`.
    seed : int
        Of the draws of features; see `benchmarks.objectives.protocol.configuration_seed`.
    """

    def __init__(self, split: ExampleSplit, config: dict[str, Any], seed: int) -> None:
        from sklearn.ensemble import HistGradientBoostingClassifier

        super().__init__(split)
        arguments = {name: value for name, value in config.items() if name != "interactions"}
        self._model = HistGradientBoostingClassifier(
            **arguments,
            interaction_cst=None if config["interactions"] else "no_interactions",
            early_stopping=False,
            warm_start=True,
            max_iter=0,
            random_state=random_state(seed),
        )

    def train(self) -> None:
        """Grow a tree for each class."""
        self._model.set_params(max_iter=self._model.max_iter + 1).fit(self.split.train.x, self.split.train.y)

    def classes_of(self, examples: Examples) -> NDArray[Any]:
        """See `ModelTraining`."""
        return self._model.predict(examples.x)

    def state(self) -> State:
        """The nodes of all trees, their numbers, and where the draws of features stand, as JSON."""
        trees = [tree.nodes for stage in self._model._predictors for tree in stage]
        return {
            "nodes": np.concatenate(trees),
            "sizes": np.array([len(nodes) for nodes in trees]),
            "draws": np.array(json.dumps(self._model._feature_subsample_rng.bit_generator.state)),
        }

    def restore(self, state: State) -> None:
        """Put the trees in place of those of a first stage, which sets up the rest."""
        from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE
        from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor

        nodes, sizes, draws = state["nodes"], state["sizes"], json.loads(str(state["draws"]))
        if nodes.dtype != PREDICTOR_RECORD_DTYPE:
            raise ValueError(
                f"nodes must be {PREDICTOR_RECORD_DTYPE}, as this scikit-learn has them, got {nodes.dtype}"
            )
        self.train()
        no_categories = np.zeros((0, 8), dtype=np.uint32)
        trees = [TreePredictor(each, no_categories, no_categories) for each in np.split(nodes, np.cumsum(sizes)[:-1])]
        of_stage = self._model.n_trees_per_iteration_
        self._model._predictors[:] = [trees[first : first + of_stage] for first in range(0, len(trees), of_stage)]
        self._model._feature_subsample_rng.bit_generator.state = draws
        self._model.set_params(max_iter=self._model.n_iter_)


class GradientBoosting(ModelTask):
    """Minimize the validation error over the learning rate, the size of the trees, and what restrains them.

    The parameters are those of `ModelTask`.

    Notes
    -----
    `max_features` is the share of the features that each split may choose from, and `interactions` whether a tree may
    ask for several features on one path.
    """

    dataset = "digits"
    space = Space(
        {
            "learning_rate": Real(1e-3, 1.0, log=True),
            "max_leaf_nodes": Integer(2, 16, log=True),
            "min_samples_leaf": Integer(1, 100, log=True),
            "l2_regularization": Real(1e-4, 1e2, log=True),
            "max_features": Real(0.05, 1.0, log=True),
            "interactions": Categorical([False, True]),
        }
    )

    def prepare(self) -> None:
        """Import scikit-learn and read the examples."""
        import sklearn.ensemble  # noqa: F401

        self.split  # noqa: B018

    def start(self, config: dict[str, Any], seed: int) -> BoostingTraining:
        """See `CurveTask.start`."""
        return BoostingTraining(self.split, config, configuration_seed(seed, config))
