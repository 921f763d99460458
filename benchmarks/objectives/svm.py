"""A support vector machine with an RBF kernel on MNIST (paper, section "Support Vector Machines on MNIST")."""

from __future__ import annotations

import functools
import operator
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmarks.data.images import Array
from benchmarks.objectives import one_against_one
from benchmarks.objectives.image_task import ImageTask
from benchmarks.objectives.protocol import NO_TIME, Evaluation, Time
from btao import Real, Space
from btao.training import Level

# scikit-learn is imported when used: a class is asked for its parameters without it.
if TYPE_CHECKING:
    from sklearn.svm import SVC


class _Machine(NamedTuple):
    """What a trained machine answers: errors as shares of wrong answers, and the iterations that it took."""

    validation_error: float
    test_error: float
    iterations: int


class SVM(ImageTask):
    """Minimize the validation error over the penalty C and the kernel's gamma.

    Parameters
    ----------
    n_train, n_validation : int
        Numbers of images; see `benchmarks.data.images.split`.
    light_iterations, heavy_iterations : int
        Limits on the solver's iterations, for each of the 45 one-against-one classifiers.
    delta_bounds, rho_bounds : pair of float
        Bounds of the truncated additive model (METHOD item 18).
    data, data_dir : str
        See `benchmarks.data.datasets.load`.

    Raises
    ------
    ValueError
        If an argument is out of its range. The data is read when it is first needed, and raises then.

    Notes
    -----
    A level limits the iterations and nothing else (METHOD item 18). Its measurement is the best
    error up to the stop (METHOD item 17), on a curve with two points: the light number of
    iterations and the level's own. The solver cannot be stopped and continued, so a heavy run
    pays for all its iterations whether a light run of the same configuration was made or not, and
    `Evaluation.curve`, which holds every iteration, is left out. What a light machine measured is
    remembered, so that a heavy run need not train it again; before a first light run, it has to.
    """

    dataset = "mnist"
    remembers = True  # light machines, which heavy runs then need not train
    space = Space({"C": Real(2**-10, 2**10, log=True), "gamma": Real(2**-10, 2**10, log=True)})

    def __init__(
        self,
        n_train: int = 50_000,
        n_validation: int = 10_000,
        light_iterations: int = 50,
        heavy_iterations: int = 500,
        delta_bounds: tuple[float, float] = (-1.0, 0.0),
        rho_bounds: tuple[float, float] = (0.0, 1.0),
        data: str = "auto",
        data_dir: str | None = None,
    ) -> None:
        levels = Level(light_iterations), Level(heavy_iterations)
        super().__init__(n_train, n_validation, *levels, delta_bounds, rho_bounds, data, data_dir)
        self._light_results: dict[tuple[float, float], _Machine] = {}

    def prepare(self) -> None:
        """Import scikit-learn and read the images."""
        import sklearn.svm  # noqa: F401

        self._training, self._validation, self._test  # noqa: B018

    def evaluate(self, config: dict[str, Any], level: Level, seed: int) -> Evaluation:
        """The least validation error of machines trained for the light and for `level.iterations` iterations.

        `Evaluation.iterations` is the largest number that one of the 45 classifiers needed. Training
        is deterministic: `seed` changes nothing.
        """
        config = self.space.validate(config)
        machines, testing = [], NO_TIME
        for limit in sorted({min(self.light.iterations, level.iterations), level.iterations}):
            machine, tested = self._measure(config, limit)
            machines.append(machine)
            testing = testing.plus(tested)
            if machine.iterations < limit:
                break  # the solver converged: more iterations give the same machine
        best = min(machines, key=operator.attrgetter("validation_error"))
        return Evaluation(best.validation_error, machines[-1].iterations, test_error=best.test_error, testing=testing)

    def _measure(self, config: dict[str, Any], limit: int) -> tuple[_Machine, Time]:
        """What one machine answers, and the time of its test; light machines are remembered."""
        if limit != self.light.iterations:
            return self._train(config, limit)
        key = config["C"], config["gamma"]
        if key in self._light_results:
            return self._light_results[key], NO_TIME
        self._light_results[key], testing = self._train(config, limit)
        return self._light_results[key], testing

    def _train(self, config: dict[str, Any], limit: int) -> tuple[_Machine, Time]:
        """Train one machine, validate and test it."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.svm import SVC

        # Training has no randomness, but without a seed SVC would draw one from numpy's global state.
        machine = SVC(C=config["C"], gamma=config["gamma"], kernel="rbf", max_iter=limit, random_state=0)
        with warnings.catch_warnings():
            # Ending at the limit is what a level means.
            warnings.simplefilter("ignore", ConvergenceWarning)
            machine.fit(*self._training)
        validation_error = _error(machine, config["gamma"], self._validation, self._split.y_validation)
        validated = Time.now()
        test_error = _error(machine, config["gamma"], self._test, self._split.y_test)
        return _Machine(validation_error, test_error, int(machine.n_iter_.max())), Time.now().since(validated)

    @functools.cached_property
    def _training(self) -> tuple[one_against_one.Floats, Array]:
        """Training images, one row each, and labels, by class.

        libsvm takes the images of a class in their order wherever they stand, so the machine is the
        same to the bit; but each of the 45 classifiers then reads two stretches of memory, which
        takes a third less time.
        """
        by_class = np.argsort(self._split.y_train, kind="stable")
        return _rows(self._split.x_train[by_class]), self._split.y_train[by_class]

    @functools.cached_property
    def _validation(self) -> one_against_one.Floats:
        """Validation images, one row each."""
        return _rows(self._split.x_validation)

    @functools.cached_property
    def _test(self) -> one_against_one.Floats:
        """Test images, one row each."""
        return _rows(self._split.x_test)


def _error(machine: SVC, gamma: float, x: one_against_one.Floats, y: Array) -> float:
    """The share of images to which a machine gives a wrong answer."""
    values = one_against_one.decision_values(
        x, machine.support_vectors_, machine.n_support_, machine.dual_coef_, machine.intercept_, gamma
    )
    predicted = machine.classes_[one_against_one.vote(values, len(machine.classes_))]
    return float((predicted != y).mean())


def _rows(images: Array) -> one_against_one.Floats:
    """Pixels scaled to [0, 1], one row an image."""
    return images.reshape(len(images), -1) / 255.0
