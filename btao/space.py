"""Search spaces: named parameters and their map to the unit cube (METHOD item 15).

Every parameter has one coordinate in [0, 1], see `btao.parameters`. Kernel features are computed from the centers of
bins, so two points that round alike are one point to a model.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from btao.arrays import BoolArray, FloatArray, IntArray
from btao.parameters import KINDS, PARAMETER_CLASSES, Categorical, Ordinal, Parameter, Real


class Space:
    """Named parameters and the unit cube that stands for them.

    Parameters
    ----------
    parameters : mapping of str to Real, Integer, Ordinal or Categorical
        At least one. Their order is that of the coordinates.

    Attributes
    ----------
    parameters : dict
    names : tuple of str
    dim : int
        Number of parameters, which is the dimension of the unit cube.
    size : int or float
        Number of distinct configurations; infinite with a real parameter.
    continuous : (dim,) array of bool
        Which parameters are real.
    groups : (p,) array of int
        The parameter that each kernel feature belongs to.

    Raises
    ------
    TypeError
        If `parameters` is no mapping, a name no str or a parameter none of the four kinds.
    ValueError
        If `parameters` is empty.

    Examples
    --------
    >>> from btao import Integer, Real, Space
    >>> space = Space({"units": Integer(8, 256, log=True), "rate": Real(1e-5, 1e-1, log=True)})
    >>> space.from_unit([0.5, 1.0])
    {'units': 44, 'rate': 0.1}
    >>> space.validate({"units": 300, "rate": 0.1})
    Traceback (most recent call last):
        ...
    ValueError: parameter 'units': must lie in [8, 256], got 300
    """

    def __init__(self, parameters: Mapping[str, Parameter]) -> None:
        if not isinstance(parameters, Mapping):
            raise TypeError(f"parameters must map names to Real, Integer, Ordinal or Categorical, got {parameters!r}")
        if not parameters:
            raise ValueError("parameters must hold at least one parameter, got none")
        for name, parameter in parameters.items():
            if not isinstance(name, str):
                raise TypeError(f"the name of a parameter must be a str, got {name!r}")
            if not isinstance(parameter, Parameter):
                raise TypeError(
                    f"parameter {name!r} must be a Real, Integer, Ordinal or Categorical, got {parameter!r}"
                )
        self.parameters: dict[str, Parameter] = dict(parameters)
        self.names: tuple[str, ...] = tuple(self.parameters)
        self.dim: int = len(self.names)
        kinds = list(self.parameters.values())
        self.continuous: BoolArray = np.array([isinstance(kind, Real) for kind in kinds])
        # Not one product over all sizes: an int above 1e308 times inf overflows.
        self.size: int | float = math.inf if self.continuous.any() else math.prod(kind.size for kind in kinds)
        widths = [kind.size if isinstance(kind, Categorical) else 1 for kind in kinds]
        self.groups: IntArray = np.repeat(np.arange(self.dim), widths)
        self.continuous.flags.writeable = False
        self.groups.flags.writeable = False
        self._discrete = [(j, kind) for j, kind in enumerate(kinds) if not isinstance(kind, Real)]
        self._categorical = [(j, kind) for j, kind in enumerate(kinds) if isinstance(kind, Categorical)]

    def to_unit(self, config: Mapping[str, Any]) -> FloatArray:
        """The point of the unit cube that stands for a configuration.

        Parameters
        ----------
        config : mapping of str to value
            One value for each parameter; numpy scalars are accepted.

        Returns
        -------
        (dim,) array
            Integers, ordinals and categories at the centers of their bins.

        Raises
        ------
        TypeError
            If `config` is no mapping, or a value has the wrong type.
        ValueError
            If a name is missing or unknown, or a value out of bounds or no choice.
        """
        valid = self.validate(config)
        return np.array([parameter.to_unit(valid[name]) for name, parameter in self.parameters.items()])

    def from_unit(self, u: ArrayLike) -> dict[str, Any]:
        """The configuration that a point of the unit cube denotes.

        Parameters
        ----------
        u : (dim,) array
            Clipped to [0, 1].

        Returns
        -------
        dict
            Plain Python values, within bounds, in the order of the parameters.

        Raises
        ------
        ValueError
            If the shape is wrong or a coordinate is nan.
        """
        point = np.asarray(u, dtype=float)
        if point.shape != (self.dim,):
            raise ValueError(f"u must have shape ({self.dim},), got {point.shape}")
        (clipped,) = self._clip(point[None, :]).tolist()
        pairs = zip(self.parameters.items(), clipped, strict=True)
        return {name: parameter.from_unit(coordinate) for (name, parameter), coordinate in pairs}

    def validate(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """A configuration in plain Python values and the order of the parameters.

        Parameters, errors: as `to_unit`.
        """
        if not isinstance(config, Mapping):
            raise TypeError(f"config must map the names {list(self.names)} to values, got {config!r}")
        for name in config:
            if name not in self.parameters:
                near = difflib.get_close_matches(str(name), self.names, n=1, cutoff=0.0)
                raise ValueError(
                    f"config has no parameter {name!r}: did you mean {near[0]!r}? The names are {list(self.names)}"
                )
        missing = [name for name in self.names if name not in config]
        if missing:
            raise ValueError(f"config lacks a value for {missing}")
        valid = {}
        for name, parameter in self.parameters.items():
            try:
                valid[name] = parameter.validate(config[name])
            except (TypeError, ValueError) as error:
                raise type(error)(f"parameter {name!r}: {error}") from None
        return valid

    def snap(self, U: ArrayLike) -> FloatArray:
        """The canonical representative of the configuration that each point denotes.

        Parameters
        ----------
        U : (n, dim) array
            Clipped to [0, 1].

        Returns
        -------
        (n, dim) array
            Bin centers for integers, ordinals and categories; real coordinates as they were. A new array.

        Raises
        ------
        ValueError
            If the shape is wrong or a coordinate is nan.
        """
        points = self._clip(U)
        for j, parameter in self._discrete:
            points[:, j] = parameter.snap(points[:, j])
        return points

    def features(self, U: ArrayLike) -> FloatArray:
        """What a kernel sees of each point (METHOD item 15).

        Parameters
        ----------
        U : (n, dim) array
            Clipped to [0, 1].

        Returns
        -------
        (n, p) array
            The snapped coordinate of a real, integer or ordinal parameter; one column per choice of a
            categorical one, so that two different choices are at squared distance 1. `groups`
            names the parameter of each column.

        Raises
        ------
        ValueError
            If the shape is wrong or a coordinate is nan.
        """
        points = self.snap(U)
        if not self._categorical:
            return points
        features = points[:, self.groups]
        for j, parameter in self._categorical:
            first = np.searchsorted(self.groups, j)
            features[:, first : first + parameter.size] = parameter.one_hot(points[:, j])
        return features

    def to_dict(self) -> dict[str, Any]:
        """The space as JSON-able data. A list carries the order, which sorted keys would lose."""
        rows: list[dict[str, Any]] = []
        for name, parameter in self.parameters.items():
            if isinstance(parameter, Categorical):
                fields: dict[str, Any] = {"choices": list(parameter.choices)}
            elif isinstance(parameter, Ordinal):
                fields = {"values": list(parameter.values)}
            else:
                fields = {"low": parameter.low, "high": parameter.high, "log": parameter.log}
            rows.append({"name": name, "type": KINDS[type(parameter)], **fields})
        return {"parameters": rows}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Space:
        """The space that `to_dict` described.

        Raises
        ------
        TypeError, ValueError
            If `data` is not of the form that `to_dict` writes.
        """
        parameters: dict[str, Parameter] = {}
        try:
            rows = [dict(row) for row in data["parameters"]]
            named = [(row.pop("name"), row.pop("type"), row) for row in rows]
        except KeyError as error:
            raise ValueError(f"data must be what Space.to_dict writes, but it lacks {error}") from None
        for name, kind, fields in named:
            if kind not in PARAMETER_CLASSES:
                raise ValueError(f"parameter {name!r}: type must be one of {list(PARAMETER_CLASSES)}, got {kind!r}")
            if name in parameters:
                raise ValueError(f"parameter {name!r} appears twice")
            parameters[name] = PARAMETER_CLASSES[kind](**fields)
        return cls(parameters)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Space):
            return NotImplemented
        return list(self.parameters.items()) == list(other.parameters.items())

    def __hash__(self) -> int:
        return hash(tuple(self.parameters.items()))

    def __repr__(self) -> str:
        return f"Space({self.parameters!r})"

    def _clip(self, U: ArrayLike) -> FloatArray:
        points: FloatArray = np.asarray(U, dtype=float)
        if points.ndim != 2 or points.shape[1] != self.dim:
            raise ValueError(f"U must have shape (n, {self.dim}), got {points.shape}")
        if np.isnan(points).any():
            raise ValueError("coordinates must not be nan")
        return np.clip(points, 0.0, 1.0)
