"""How well models predict the heavy response from the runs of a method: pure functions on the trials of one run.

Definitions
-----------
model
    "tam": the truncated additive model with the bounds of the task. "koh": the same model with infinite
    bounds, that of Kennedy and O'Hagan; where the task has none, the two are one. "gp": GP-BO's
    Gaussian process, of the heavy results alone. All are fitted to the successful runs so far, from
    the hyperparameters after the heavy run before, as the methods do.
prediction
    Mean and standard deviation of the heavy response where neither level was run (METHOD item 8).
band
    Mean ± 1.96 standard deviations, for the truncated model too.
log score
    Mean of the log density at the true responses, larger is better. The density is the normal one
    with the predicted moments for all models, though the truncated one predicts the sum of a normal and a
    truncated normal variable; with the density of that, medians over seeds of the recorded network are
    within 0.1 of these. One point far outside a narrow band can cost millions of nats, so a mean over
    seeds says nothing; say how many seeds are lost beside their median.
least standard deviation
    A standard deviation below `LEAST_STD` of the spread of the true responses of the test design is taken
    as that, which is where rounding begins; coverage, width and log score all see it. The design does not
    change from run to run, so it is the same for all models, seeds and heavy runs of a task.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pandas import DataFrame

from benchmarks.analysis.intervals import check_choice
from benchmarks.records.frames import configurations
from btao import Space
from btao.gp import GaussianProcess
from btao.tam import TruncatedAdditiveModel, TruncationWarning

MODELS = ("tam", "koh", "gp")
LEAST_STD = 1e-6
BAND = 1.96
UNBOUNDED = (-math.inf, math.inf)

# Mean and standard deviation, each (m,), at points (m, dim) of the unit cube.
Predict = Callable[[NDArray[np.float64]], tuple[NDArray[np.float64], NDArray[np.float64]]]
Bounds = tuple[float, float]


def points_of(trials: DataFrame, space: Space) -> NDArray[np.float64]:
    """The configurations of trials as points (n, dim) of the unit cube."""
    configs = configurations(trials, space)
    return np.array([space.to_unit(config) for config in configs]).reshape(-1, space.dim)


def fits(
    trials: DataFrame, space: Space, model: str, *, delta_bounds: Bounds = UNBOUNDED, rho_bounds: Bounds = UNBOUNDED
) -> Iterator[tuple[int, Predict]]:
    """A model after each heavy run that succeeded.

    Parameters
    ----------
    trials : DataFrame
        Of one run, in the order of the record, as `records.load` returns them.
    space : Space
    model : {"tam", "koh", "gp"}
    delta_bounds, rho_bounds : (float, float)
        Of "tam".

    Yields
    ------
    heavy_runs : int
        How many there were, failed ones included.
    predict : callable
        From points (m, dim) of the unit cube to mean and standard deviation.

    Raises
    ------
    ValueError
        If there is no such model, or a heavy run of "tam" or "koh" has no light run of its configuration.
    """
    check_choice("model", model, MODELS)
    points, values = points_of(trials, space), trials["value"].to_numpy(float)
    heavy, good = trials["heavy"].to_numpy(bool), (trials["status"] == "ok").to_numpy()
    bounds = (delta_bounds, rho_bounds) if model == "tam" else (UNBOUNDED, UNBOUNDED)
    process: GaussianProcess | None = None
    additive: TruncatedAdditiveModel | None = None
    for end in np.flatnonzero(heavy & good) + 1:
        so_far = good & (np.arange(len(good)) < end)
        highs, lows = so_far & heavy, so_far & ~heavy
        level = highs if model == "gp" else lows
        if not level.any():
            raise ValueError(f"model {model!r} needs a light run before the first heavy one: give it the runs of btao")
        process = GaussianProcess(space).fit(
            points[level], values[level], start=None if process is None else process.log_phi_
        )
        if model == "gp":
            yield int(heavy[:end].sum()), process.predict
            continue
        start = None if additive is None else additive.hyperparameters_
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TruncationWarning)
            additive = TruncatedAdditiveModel(*bounds, space).fit(
                points[lows], values[lows], points[highs], values[highs], light=process, start=start
            )
        yield int(heavy[:end].sum()), additive.predict


def accuracy_scores(mean: ArrayLike, std: ArrayLike, truth: ArrayLike) -> dict[str, float]:
    """How good predictions are.

    Parameters
    ----------
    mean, std : (m,) arrays
        Predicted. `std` is used no smaller than the least standard deviation, see above.
    truth : (m,) array
        The true heavy responses.

    Returns
    -------
    dict
        rmse; coverage (share of the truths inside the band); width (mean width of the band, in the
        units of the response); log_score, in nats. nan without a point.
    """
    true, predicted, spread = (np.asarray(each, dtype=float) for each in (truth, mean, std))
    if true.size == 0:
        return dict.fromkeys(("rmse", "coverage", "width", "log_score"), math.nan)
    spread = np.maximum(spread, LEAST_STD * (np.ptp(true) or 1.0))
    error = true - predicted
    return {
        "rmse": float(np.sqrt(np.mean(error**2))),
        "coverage": float(np.mean(np.abs(error) <= BAND * spread)),
        "width": float(np.mean(2 * BAND * spread)),
        "log_score": float(np.mean(-0.5 * (error / spread) ** 2 - np.log(spread) - 0.5 * math.log(2 * math.pi))),
    }


def accuracy(
    trials: DataFrame,
    space: Space,
    model: str,
    points: NDArray[np.float64],
    truth: NDArray[np.float64],
    **bounds: Bounds,
) -> DataFrame:
    """The scores of a model after each heavy run.

    Parameters
    ----------
    trials, space, model
        As in `fits`.
    points : (m, dim) array
        The test design, in the unit cube.
    truth : (m,) array
        Its heavy responses.
    **bounds
        `delta_bounds` and `rho_bounds`, as in `fits`.

    Returns
    -------
    DataFrame
        One row a heavy run that succeeded: model, heavy_runs, n (points predicted), and those of `accuracy_scores`.
    """
    rows = []
    for heavy_runs, predict in fits(trials, space, model, **bounds):
        row = {"model": model, "heavy_runs": heavy_runs, "n": len(points)}
        rows.append(row | accuracy_scores(*predict(points), truth))
    return pd.DataFrame(rows)


def best_point(trials: DataFrame, space: Space) -> NDArray[np.float64]:
    """The configuration (dim,) of the smallest successful heavy value, the first of equals."""
    good = trials[trials["heavy"].astype(bool) & (trials["status"] == "ok")]
    return points_of(good.loc[[good["value"].astype(float).idxmin()]], space)[0]


def slice_points(
    center: NDArray[np.float64], parameters: Sequence[int], resolution: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A grid in the unit cube through a point, along one parameter or two, the others as they are there.

    Parameters
    ----------
    center : (dim,) array
    parameters : sequence of int
        The places of the parameters.
    resolution : int
        Points along each, at least 2.

    Returns
    -------
    axis : (resolution,) array
        From 0 to 1.
    points : (resolution ** len(parameters), dim) array
        The last parameter fastest.
    """
    axis = np.linspace(0.0, 1.0, resolution)
    points = np.tile(np.asarray(center, dtype=float), (resolution ** len(parameters), 1))
    for place, values in zip(parameters, np.meshgrid(*[axis] * len(parameters), indexing="ij"), strict=True):
        points[:, place] = values.ravel()
    return axis, points


def slices(
    predictions: dict[str, Predict],
    space: Space,
    center: NDArray[np.float64],
    parameters: Sequence[int],
    truth: Callable[[dict[str, Any]], float | None],
    resolution: int = 101,
) -> DataFrame:
    """Predictions along one parameter, or over two, through a point.

    Parameters
    ----------
    predictions : dict of str to callable
        Models by name, as `fits` yields them.
    space : Space
    center, parameters, resolution
        As in `slice_points`.
    truth : callable
        From a configuration to its heavy response, None where that is not known: `Objective.truth`.

    Returns
    -------
    DataFrame
        One row a model and point: model, one column a parameter of `parameters` with its values, mean,
        std, truth (nan where it is not known).
    """
    _, points = slice_points(center, parameters, resolution)
    points = space.snap(points)
    configs = [space.from_unit(point) for point in points]
    known = np.array([truth(config) for config in configs], dtype=float)
    along = {space.names[place]: [config[space.names[place]] for config in configs] for place in parameters}
    parts = []
    for name, predict in predictions.items():
        mean, std = predict(points)
        parts.append(pd.DataFrame({"model": name, **along, "mean": mean, "std": std, "truth": known}))
    return pd.concat(parts, ignore_index=True)
