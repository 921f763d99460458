"""Search spaces: named parameters and their map to the unit cube (METHOD item 15).

Every parameter has one coordinate in [0, 1], see `btao.parameters`. Kernel features are computed from the centers of
bins, and those of inactive parameters are fixed (`btao.spaces.conditions`), so two points that denote the same
configuration are one point to a model.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from btao.arrays import BoolArray, FloatArray, IntArray
from btao.parameters import KINDS, PARAMETER_CLASSES, Categorical, Constant, Ordinal, Parameter, Real, with_tuples
from btao.spaces.conditions import INACTIVE, Conditions, When
from btao.spaces.constraint import ConstraintFailure, ConstraintMismatch


class Space:
    """Named parameters and the unit cube that stands for them.

    Parameters
    ----------
    parameters : mapping of str to Real, Integer, Ordinal, Categorical or Constant
        At least one. Their order is that of the coordinates.
    conditions : mapping of str to When or list of When, optional
        By the name of a parameter what others must be for it to be active; all of a list must hold. Parameters that are
        inactive are absent from a configuration: `{"momentum": When("optimizer", "sgd")}`.
    constraint : callable, optional
        From a configuration (dict) to whether it is allowed, True or False. Others are never proposed. Inactive
        parameters are absent there, too: `config.get("momentum")`.

    Attributes
    ----------
    parameters : dict
    conditions : dict of str to tuple of When
        Of the parameters that have some.
    constraint : callable or None
    names : tuple of str
    dim : int
        Number of parameters, which is the dimension of the unit cube.
    n_varying : int
        Number of parameters that are no constants.
    size : int or float
        Number of distinct configurations, whether or not they satisfy the constraint; infinite with a continuous
        parameter.
    continuous : (dim,) array of bool
        Which parameters are continuous: real ones without a step.
    groups : (p,) array of int
        The parameter that each kernel feature belongs to.

    Raises
    ------
    TypeError
        If `parameters` is no mapping, a name no str or a parameter none of the five kinds; if `conditions` are not as
        above, or name a continuous parameter; if `constraint` is not callable.
    ValueError
        If `parameters` is empty; if conditions name what is not there, or form a circle.

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

    def __init__(
        self,
        parameters: Mapping[str, Parameter],
        *,
        conditions: Mapping[str, When | Sequence[When]] | None = None,
        constraint: Callable[[dict[str, Any]], bool] | None = None,
    ) -> None:
        if not isinstance(parameters, Mapping):
            raise TypeError(
                f"parameters must map names to Real, Integer, Ordinal, Categorical or Constant, got {parameters!r}"
            )
        if not parameters:
            raise ValueError("parameters must hold at least one parameter, got none")
        for name, parameter in parameters.items():
            if not isinstance(name, str):
                raise TypeError(f"the name of a parameter must be a str, got {name!r}")
            if not isinstance(parameter, Parameter):
                raise TypeError(
                    f"parameter {name!r} must be a Real, Integer, Ordinal, Categorical or Constant, got {parameter!r}"
                )
        if not (constraint is None or callable(constraint)):
            raise TypeError(f"constraint must be a function of a configuration or None, got {constraint!r}")
        self.parameters: dict[str, Parameter] = dict(parameters)
        self.names: tuple[str, ...] = tuple(self.parameters)
        self.dim: int = len(self.names)
        self._conditions = Conditions(self.parameters, {} if conditions is None else conditions)
        self.conditions: dict[str, tuple[When, ...]] = dict(self._conditions.of)
        self.constraint = constraint
        kinds = list(self.parameters.values())
        self.continuous: BoolArray = np.array([kind.continuous for kind in kinds])
        self.n_varying: int = sum(kind.size > 1 for kind in kinds)
        self.size: int | float = self._conditions.count()
        widths = [kind.size if isinstance(kind, Categorical) else 1 for kind in kinds]
        self.groups: IntArray = np.repeat(np.arange(self.dim), widths)
        self.continuous.flags.writeable = False
        self.groups.flags.writeable = False
        self._discrete = [(j, kind) for j, kind in enumerate(kinds) if not kind.continuous]
        self._categorical = [(j, kind) for j, kind in enumerate(kinds) if isinstance(kind, Categorical)]

    def to_unit(self, config: Mapping[str, Any]) -> FloatArray:
        """The point of the unit cube that stands for a configuration.

        Parameters
        ----------
        config : mapping of str to value
            One value for each active parameter; numpy scalars are accepted.

        Returns
        -------
        (dim,) array
            Integers, ordinals and categories at the centers of their bins, inactive parameters at 0.5.

        Raises
        ------
        TypeError
            If `config` is no mapping, or a value has the wrong type.
        ValueError
            If a name is missing, unknown or of an inactive parameter, or a value out of bounds or no choice; if the
            constraint refuses the configuration.
        """
        return self.point(self.validate(config))

    def point(self, valid: Mapping[str, Any]) -> FloatArray:
        """The point (dim,) of a configuration that `validate` returned."""
        return np.array(
            [
                parameter.to_unit(valid[name]) if name in valid else INACTIVE
                for name, parameter in self.parameters.items()
            ]
        )

    def from_unit(self, u: ArrayLike) -> dict[str, Any]:
        """The configuration that a point of the unit cube denotes.

        Parameters
        ----------
        u : (dim,) array
            Clipped to [0, 1].

        Returns
        -------
        dict
            Plain Python values of the active parameters, within bounds, in the order of the parameters.

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
        return self.assemble({name: parameter.from_unit(coordinate) for (name, parameter), coordinate in pairs}.get)

    def assemble(self, value_of: Callable[[str], Any]) -> dict[str, Any]:
        """The configuration whose values a function gives.

        Parameters
        ----------
        value_of : callable
            From the name of a parameter to a valid value of it. It is called for active parameters alone, for each
            after those that its conditions name.

        Returns
        -------
        dict
            In the order of the parameters.
        """
        active: dict[str, Any] = {}
        for name in self._conditions.order:
            if self._conditions.holds(name, active):
                active[name] = value_of(name)
        return {name: active[name] for name in self.names if name in active}

    @cached_property
    def all_points(self) -> FloatArray:
        """Every allowed configuration of a finite space, as canonical points (n, dim) of the cube."""
        points = self._conditions.all_points()
        points = points[self.allowed(points)]
        points.flags.writeable = False
        return points

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
        missing = [name for name in self.names if name not in config and name not in self.conditions]
        if missing:
            raise ValueError(f"config lacks a value for {missing}")
        valid: dict[str, Any] = {}
        for name in self._conditions.order:
            if not self._conditions.holds(name, valid):
                if name in config:
                    raise ValueError(
                        f"config has a value for {name!r}, which is active only where {self._conditions.text(name)}: "
                        "leave it out"
                    )
                continue
            if name not in config:
                raise ValueError(
                    f"config lacks a value for {name!r}, which is active where {self._conditions.text(name)}"
                )
            try:
                valid[name] = self.parameters[name].validate(config[name])
            except (TypeError, ValueError) as error:
                raise type(error)(f"parameter {name!r}: {error}") from None
        valid = {name: valid[name] for name in self.names if name in valid}
        if not self.allows(valid):
            raise ValueError(f"config does not satisfy the constraint of the space: {valid}")
        return valid

    @property
    def all_text(self) -> str:
        """All configurations of a finite space in words, for messages."""
        if self.constraint is None:
            return f"all {self.size} configurations of the space"
        return "all configurations of the space that its constraint allows"

    def allows(self, config: Mapping[str, Any]) -> bool:
        """Whether the constraint allows a valid configuration.

        Raises
        ------
        TypeError
            If it answers neither True nor False.
        ConstraintFailure
            If it raises an error.
        """
        if self.constraint is None:
            return True
        try:
            answer = self.constraint(dict(config))
        except Exception as error:
            name = error.args[0] if isinstance(error, KeyError) and error.args else None
            is_inactive = name in self.names and name not in config
            advice = f": {name!r} is inactive there, and absent; use config.get({name!r})" if is_inactive else ""
            raise ConstraintFailure(
                f"constraint failed at {dict(config)} with {type(error).__name__}: {error}{advice}"
            ) from error
        if not isinstance(answer, bool | np.bool_):
            raise TypeError(f"constraint must return True or False, got {answer!r} for {dict(config)}")
        return bool(answer)

    def allowed(self, U: ArrayLike) -> BoolArray:
        """Which points (n, dim), clipped to [0, 1], the constraint allows, as an array (n,); errors as of `allows`."""
        points = np.asarray(U, dtype=float)
        if self.constraint is None:
            return np.ones(len(points), dtype=bool)
        return np.array([self.allows(config) for config in self._configs(points)], dtype=bool)

    def active(self, U: ArrayLike) -> BoolArray:
        """Which parameters are active at each point.

        Parameters
        ----------
        U : (n, dim) array
            Clipped to [0, 1].

        Returns
        -------
        (n, dim) array of bool

        Raises
        ------
        ValueError
            If the shape is wrong or a coordinate is nan.
        """
        return self._conditions.active(self._clip(U))

    def snap(self, U: ArrayLike) -> FloatArray:
        """The canonical representative of the configuration that each point denotes.

        Parameters
        ----------
        U : (n, dim) array
            Clipped to [0, 1].

        Returns
        -------
        (n, dim) array
            Bin centers for integers, ordinals and categories, 0.5 for inactive parameters; coordinates of active real
            ones as they were. A new array.

        Raises
        ------
        ValueError
            If the shape is wrong or a coordinate is nan.
        """
        points, _ = self._snapped(U)
        return points

    def _snapped(self, U: ArrayLike) -> tuple[FloatArray, BoolArray]:
        """`snap` and `active` of points (n, dim)."""
        points = self._clip(U)
        active = self._conditions.active(points)
        for j, parameter in self._discrete:
            points[:, j] = parameter.snap(points[:, j])
        if self.conditions:
            points[~active] = INACTIVE
        return points, active

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
            categorical one, so that two different choices are at squared distance 1, and all of them at the same
            from none, where it is inactive. `groups` names the parameter of each column.

        Raises
        ------
        ValueError
            If the shape is wrong or a coordinate is nan.
        """
        points, active = self._snapped(U)
        if not self._categorical:
            return points
        features = points[:, self.groups]
        for j, parameter in self._categorical:
            first = np.searchsorted(self.groups, j)
            features[:, first : first + parameter.size] = parameter.one_hot(points[:, j]) * active[:, j, None]
        return features

    def to_dict(self) -> dict[str, Any]:
        """The space as JSON-able data. A list carries the order, which sorted keys would lose.

        Of a constraint it says only that there is one.
        """
        rows: list[dict[str, Any]] = []
        for name, parameter in self.parameters.items():
            if isinstance(parameter, Categorical):
                fields: dict[str, Any] = {"choices": list(parameter.choices)}
            elif isinstance(parameter, Ordinal):
                fields = {"values": list(parameter.values)}
            elif isinstance(parameter, Constant):
                fields = {"value": parameter.value}
            else:
                fields = {"low": parameter.low, "high": parameter.high, "log": parameter.log}
                if parameter.step != (None if isinstance(parameter, Real) else 1):
                    fields["step"] = parameter.step
            if name in self.conditions:
                fields["when"] = [
                    {"parameter": when.parameter, "values": list(when.values)} for when in self.conditions[name]
                ]
            rows.append({"name": name, "type": KINDS[type(parameter)], **fields})
        return {"parameters": rows} | ({} if self.constraint is None else {"constrained": True})

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, constraint: Callable[[dict[str, Any]], bool] | None = None) -> Space:
        """The space that `to_dict` described.

        Parameters
        ----------
        data : mapping
        constraint : callable, optional
            That of the space, if it had one.

        Raises
        ------
        TypeError, ValueError
            If `data` is not of the form that `to_dict` writes.
        ConstraintMismatch
            If a constraint is missing or too many.
        """
        parameters: dict[str, Parameter] = {}
        conditions: dict[str, list[When]] = {}
        try:
            rows = [dict(row) for row in data["parameters"]]
            named = [(row.pop("name"), row.pop("type"), row) for row in rows]
            for name, _, row in named:
                if "when" in row:
                    whens = row.pop("when")
                    conditions[name] = [When(when["parameter"], *map(with_tuples, when["values"])) for when in whens]
        except KeyError as error:
            raise ValueError(f"data must be what Space.to_dict writes, but it lacks {error}") from None
        for name, kind, fields in named:
            if kind not in PARAMETER_CLASSES:
                raise ValueError(f"parameter {name!r}: type must be one of {list(PARAMETER_CLASSES)}, got {kind!r}")
            if name in parameters:
                raise ValueError(f"parameter {name!r} appears twice")
            for field in {"choices", "value"} & {*fields}:
                fields[field] = [*map(with_tuples, fields[field])] if field == "choices" else with_tuples(fields[field])
            parameters[name] = PARAMETER_CLASSES[kind](**fields)
        if bool(data.get("constrained")) != (constraint is not None):
            raise ConstraintMismatch(
                "the space has a constraint, which JSON cannot hold: give the same function as constraint="
                if constraint is None
                else f"the space has no constraint, but constraint={constraint!r} is given: leave it out"
            )
        return cls(parameters, conditions=conditions, constraint=constraint)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Space):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        conditions = f", conditions={self.conditions!r}" if self.conditions else ""
        constraint = "" if self.constraint is None else f", constraint={self.constraint!r}"
        return f"Space({self.parameters!r}{conditions}{constraint})"

    def _key(self) -> tuple[Any, ...]:
        """What makes two spaces equal."""
        return tuple(self.parameters.items()), tuple(self.conditions.items()), self.constraint

    def _configs(self, U: ArrayLike) -> Iterator[dict[str, Any]]:
        """`from_unit` of points (n, dim)."""
        points = self._clip(U)
        columns = [kind.from_units(points[:, j]) for j, kind in enumerate(self.parameters.values())]
        active = self._conditions.active(points).tolist()
        for values, there in zip(zip(*columns, strict=True), active, strict=True):
            yield {name: value for name, value, is_so in zip(self.names, values, there, strict=True) if is_so}

    def _clip(self, U: ArrayLike) -> FloatArray:
        points: FloatArray = np.asarray(U, dtype=float)
        if points.ndim != 2 or points.shape[1] != self.dim:
            raise ValueError(f"U must have shape (n, {self.dim}), got {points.shape}")
        if np.isnan(points).any():
            raise ValueError("coordinates must not be nan")
        return np.clip(points, 0.0, 1.0)
