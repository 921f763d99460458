"""What the synthetic tasks share: a light and a heavy function, noise, and costs by configuration."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.objectives.protocol import Evaluation, bounds, check_order, configuration_seed
from btao import Space
from btao.training import Level

Function = Callable[[NDArray[np.float64]], NDArray[np.float64]]
if TYPE_CHECKING:
    LevelFunction = staticmethod[[NDArray[np.float64]], NDArray[np.float64]]


class Synthetic:
    """A task with a known response at each of two levels.

    Parameters
    ----------
    noise : float
        Standard deviation of Gaussian noise on every value; 0 for none.
    light_iterations, heavy_iterations : int
        Costs of the two levels. Evaluations are not resumable: each pays its cost in full.
    delta_bounds, rho_bounds : pair of float, optional
        Bounds of the truncated additive model on the scale of the minimized values. None: the task's own.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    A subclass states `space`, the functions of the two levels from (dim,) to a number, `sign` (-1
    where they are to be maximized) and `optimum`, the least value of sign * heavy.
    """

    space: ClassVar[Space]
    light_function: ClassVar[LevelFunction]
    heavy_function: ClassVar[LevelFunction]
    sign: ClassVar[int] = 1
    optimum: ClassVar[float]
    levels: ClassVar[str] = "two"
    data: ClassVar[None] = None
    delta_bounds: tuple[float, float] = (-math.inf, math.inf)
    rho_bounds: tuple[float, float] = (-math.inf, math.inf)

    def __init__(
        self,
        noise: float = 0.0,
        light_iterations: int = 1,
        heavy_iterations: int = 5,
        delta_bounds: tuple[float, float] | None = None,
        rho_bounds: tuple[float, float] | None = None,
    ) -> None:
        if not (math.isfinite(noise) and noise >= 0):
            raise ValueError(f"noise must be finite and not negative, got {noise!r}")
        self.light, self.heavy = Level(light_iterations), Level(heavy_iterations)
        check_order(self.light, self.heavy)
        self.noise = noise
        if delta_bounds is not None:
            self.delta_bounds = bounds(delta_bounds)
        if rho_bounds is not None:
            self.rho_bounds = bounds(rho_bounds)

    def prepare(self) -> None:
        """Nothing to load."""

    def evaluate(self, config: dict[str, Any], level: Level, seed: int) -> Evaluation:
        """The light or heavy response at `config`, with noise that (seed, config, level) decide.

        Raises
        ------
        TypeError, ValueError
            If `config` is not of the space, or `level` neither of the two.
        """
        iterations = level.iterations
        if iterations not in (self.light.iterations, self.heavy.iterations):
            raise ValueError(
                f"level must have {self.light.iterations} (light) or {self.heavy.iterations} (heavy) iterations, "
                f"got {iterations}"
            )
        is_heavy = iterations == self.heavy.iterations
        value = self._response(self.heavy_function if is_heavy else self.light_function, config)
        if self.noise:
            generator = np.random.default_rng(configuration_seed(seed, {**config, "level": iterations}))
            value += float(generator.normal(scale=self.noise))
        return Evaluation(value, iterations)

    def truth(self, config: dict[str, Any]) -> float:
        """The noiseless heavy response at `config`, to be minimized."""
        return self._response(self.heavy_function, config)

    def _response(self, function: Function, config: dict[str, Any]) -> float:
        x = np.array(list(self.space.validate(config).values()))
        return self.sign * function(x).item()
