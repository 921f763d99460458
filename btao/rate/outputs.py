"""Values as the models of the rate rule see them: logarithms of errors, standardized (METHOD item 20)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from btao.arrays import FloatArray

# Standard deviations above this are of a lognormal whose moments no longer say anything.
LARGEST_LOG = 300.0
# Values whose spread is no larger than this share of their size are equal: that much is rounding.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Outputs:
    """z = (t - mean) / std with t = ln max(value, floor), or t = value where `floor` is None."""

    floor: float | None
    mean: float
    std: float

    @classmethod
    def of(cls, values: FloatArray, logarithm: bool | None) -> Outputs:
        """The map that fits values (n,) of both levels, n >= 1.

        Parameters
        ----------
        values : (n,) array
        logarithm : bool, optional
            Whether t is the logarithm. None: where all values are shares, from 0 to 1, and not all 0. It needs a
            positive value, and is given up where one is negative.
        """
        shares = bool(values.min() >= 0 and values.max() <= 1)
        wanted = shares if logarithm is None else logarithm and values.min() >= 0
        floor = float(values[values > 0].min()) / 2 if wanted and values.max() > 0 else None
        t = cls(floor, 0.0, 1.0).to_z(values)
        std = float(t.std())
        if std > ROUNDING * np.abs(t).max():
            return cls(floor, float(t.mean()), std)
        return cls(floor, float(t[0] + (t - t[0]).mean()), max(1.0, float(np.ptp(t))))

    def to_z(self, values: FloatArray) -> FloatArray:
        """Values as z."""
        t = values if self.floor is None else np.log(np.maximum(values, self.floor))
        return (t - self.mean) / self.std

    def moments(self, mean: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of a value whose z is normal: of a normal, or of a lognormal."""
        t_mean, t_variance = self.mean + self.std * mean, self.std**2 * variance
        if self.floor is None:
            return t_mean, np.sqrt(t_variance)
        value = np.exp(np.minimum(t_mean + 0.5 * t_variance, LARGEST_LOG))
        return value, value * np.sqrt(np.expm1(np.minimum(t_variance, LARGEST_LOG)))
