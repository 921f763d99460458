"""A task and a method outside of the suite, as a package is installed that names them as its entry points."""

from baselines.random_search import RandomSearch
from benchmarks.objectives.toy import Toy


class Baking(Toy):
    """How long to bake: the sine of the toy."""

    budget = {"heavy": 2}  # noqa: RUF012

    def __init__(self, noise: float = 0.0) -> None:
        super().__init__(noise=noise)


class Tasting(RandomSearch):
    """Random search that forgets the first bites."""

    version = 3

    def __init__(self, problem, seed, bites: int = 1) -> None:
        super().__init__(problem, seed + bites)


class Nibbling(Tasting):
    """What a command may name in the place of it."""
