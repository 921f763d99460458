"""The task of gradient boosting: stages by `warm_start` are those of scikit-learn in one go."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from benchmarks.objectives.protocol import configuration_seed
from benchmarks.objectives.sklearn_models.gradient_boosting import GradientBoosting
from benchmarks.objectives.sklearn_models.model_training import random_state

CONFIG = {
    "learning_rate": 0.3,
    "max_leaf_nodes": 7,
    "min_samples_leaf": 3,
    "l2_regularization": 0.1,
    "max_features": 0.4,
    "interactions": True,
}


@pytest.mark.parametrize("interactions", [False, True])
def test_the_errors_of_each_stage_are_those_of_scikit_learn_in_one_go(interactions):
    task = GradientBoosting(100, 60, light_iterations=2, heavy_iterations=5)
    config = CONFIG | {"interactions": interactions}
    curve = task.evaluate(config, task.heavy, seed=3).curve
    arguments = {name: value for name, value in config.items() if name != "interactions"}
    seed = random_state(configuration_seed(3, config))
    constraint = None if interactions else "no_interactions"
    model = HistGradientBoostingClassifier(
        **arguments, max_iter=5, early_stopping=False, random_state=seed, interaction_cst=constraint
    )
    model.fit(task.split.train.x, task.split.train.y)
    for found, part in (
        (curve.validation_errors, task.split.validation),
        (curve.training_errors, task.split.train),
        (curve.test_errors, task.split.test),
    ):
        assert list(found) == [float(np.mean(answers != part.y)) for answers in model.staged_predict(part.x)]


def test_a_state_of_another_scikit_learn_is_refused():
    training = GradientBoosting(100, 60, 2, 5).start(CONFIG, seed=0)
    training.train()
    state = training.state() | {"nodes": np.zeros(3)}
    with pytest.raises(ValueError, match=r"nodes must be .*, as this scikit-learn has them, got float64"):
        training.restore(state)
