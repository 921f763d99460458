"""Spaces from and to Optuna's distributions, and the configuration that a trial of Optuna suggests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from btao.optional import load
from btao.parameters import Categorical, Integer, Parameter, Real
from btao.space import Space

if TYPE_CHECKING:
    from optuna import Trial
    from optuna.distributions import BaseDistribution


def from_distributions(distributions: Mapping[str, BaseDistribution]) -> Space:
    """The space that Optuna's distributions describe, as those of `study.best_trial.distributions`.

    Parameters
    ----------
    distributions : mapping of str to FloatDistribution, IntDistribution or CategoricalDistribution

    Returns
    -------
    Space
        It has no conditions: those of a study are in its objective.

    Raises
    ------
    ImportError
        If Optuna is not installed.
    TypeError
        If a distribution is none of these.

    Examples
    --------
    >>> from optuna.distributions import FloatDistribution, IntDistribution
    >>> from_distributions({"rate": FloatDistribution(0.001, 0.1, log=True), "units": IntDistribution(8, 64)}).names
    ('rate', 'units')
    """
    library = load("optuna", "this conversion").distributions
    parameters: dict[str, Parameter] = {}
    for name, given in distributions.items():
        each: Any = given
        if isinstance(each, library.FloatDistribution):
            parameters[name] = Real(each.low, each.high, log=each.log, step=each.step)
        elif isinstance(each, library.IntDistribution):
            parameters[name] = Integer(each.low, each.high, log=each.log, step=each.step)
        elif isinstance(each, library.CategoricalDistribution):
            parameters[name] = Categorical(each.choices)
        else:
            raise TypeError(
                f"distributions[{name!r}] must be a FloatDistribution, IntDistribution or CategoricalDistribution, got "
                f"{each!r}"
            )
    return Space(parameters)


def to_distributions(space: Space) -> dict[str, BaseDistribution]:
    """Optuna's distributions of a space, as for `study.ask` and `create_trial`.

    Parameters
    ----------
    space : Space
        Without conditions and constraint. Ordinals and constants become categories: Optuna has none.

    Returns
    -------
    dict

    Raises
    ------
    ImportError
        If Optuna is not installed.
    ValueError
        If the space has conditions or a constraint, or choices that Optuna takes for one, as True and 1.

    Examples
    --------
    >>> from btao import Categorical, Space
    >>> to_distributions(Space({"kind": Categorical(["a", "b"])}))
    {'kind': CategoricalDistribution(choices=('a', 'b'))}
    """
    if space.conditions:
        raise ValueError(
            "space has conditions, which Optuna's distributions cannot hold: call suggest(trial, space) in the "
            "objective"
        )
    if space.constraint is not None:
        raise ValueError(
            "space has a constraint, which Optuna's distributions cannot hold: leave it out, and prune in the "
            "objective what it refuses"
        )
    return {name: _distribution(name, kind) for name, kind in space.parameters.items()}


def suggest(trial: Trial, space: Space) -> dict[str, Any]:
    """The configuration that a trial of Optuna suggests, parameter by parameter, the active ones alone.

    Parameters
    ----------
    trial : optuna.Trial
        In the objective of a study.
    space : Space
        Without a constraint.

    Returns
    -------
    dict
        In the order of the parameters.

    Raises
    ------
    ImportError, ValueError
        As `to_distributions` does, but for conditions.

    Examples
    --------
    >>> from optuna.trial import FixedTrial
    >>> from btao import Categorical, Real, Space, When
    >>> parameters = {"solver": Categorical(["adam", "sgd"]), "momentum": Real(0, 1)}
    >>> space = Space(parameters, conditions={"momentum": When("solver", "sgd")})
    >>> suggest(FixedTrial({"solver": "adam"}), space)
    {'solver': 'adam'}
    """
    plain = to_distributions(Space(space.parameters, constraint=space.constraint))

    def value_of(name: str) -> Any:
        kind, distribution = space.parameters[name], plain[name]
        each: Any = distribution
        if hasattr(each, "choices"):
            return trial.suggest_categorical(name, each.choices)
        suggested = trial.suggest_float if isinstance(kind, Real) else trial.suggest_int
        return kind.validate(suggested(name, each.low, each.high, step=each.step, log=each.log))

    return space.assemble(value_of)


def _distribution(name: str, kind: Parameter) -> BaseDistribution:
    library = load("optuna", "this conversion").distributions
    made: BaseDistribution
    if isinstance(kind, Real):
        made = library.FloatDistribution(kind.low, kind.high, log=kind.log, step=kind.step)
    elif isinstance(kind, Integer):
        made = library.IntDistribution(kind.low, kind.high, log=kind.log, step=kind.step)
    else:
        values = [kind.at(index) for index in range(kind.count)]
        if len({*values}) < len(values):
            raise ValueError(f"parameter {name!r}: Optuna takes some of {values!r} for one choice")
        made = library.CategoricalDistribution(values)
    return made
