"""The task of extremely randomized trees: trees that are grown one by one are those of a forest of scikit-learn's."""

import pytest
from sklearn.ensemble import ExtraTreesClassifier

from benchmarks.objectives.protocol import configuration_seed
from benchmarks.objectives.sklearn_models.extra_trees import ExtraTrees
from benchmarks.objectives.sklearn_models.model_training import random_state


@pytest.mark.parametrize("bootstrap", [False, True])
def test_the_errors_of_each_number_of_trees_are_those_of_a_forest_with_so_many(bootstrap):
    config = {
        "criterion": "entropy",
        "max_depth": 3,
        "min_samples_leaf": 2,
        "max_features": 0.2,
        "ccp_alpha": 1e-3,
        "bootstrap": bootstrap,
    }
    task = ExtraTrees(90, 60, light_iterations=2, heavy_iterations=6)
    curve = task.evaluate(config, task.heavy, seed=3).curve
    for n_trees in range(1, 7):
        forest = ExtraTreesClassifier(n_trees, random_state=random_state(configuration_seed(3, config)), **config)
        forest.fit(task.split.train.x, task.split.train.y)
        for found, part in (
            (curve.validation_errors, task.split.validation),
            (curve.training_errors, task.split.train),
            (curve.test_errors, task.split.test),
        ):
            assert found[n_trees - 1] == float((forest.predict(part.x) != part.y).mean())
