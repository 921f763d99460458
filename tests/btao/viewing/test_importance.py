"""btao.viewing.importance: Sobol' indices against their closed forms."""

import math

import numpy as np
import pytest

from btao import BTAO, Categorical, Real, Space, When
from btao.viewing.importance import total_effects
from optimizer_runs import free, play

THREE = Space({name: Real(0.0, 1.0) for name in "abc"})


def test_indices_of_ishigamis_function_are_the_known_ones():
    def ishigami(points):
        x = math.pi * (2 * points - 1)
        return np.sin(x[:, 0]) + 7 * np.sin(x[:, 1]) ** 2 + 0.1 * x[:, 2] ** 4 * np.sin(x[:, 0])

    effects = total_effects(ishigami, THREE)
    assert list(effects) == ["a", "b", "c"]
    np.testing.assert_allclose(list(effects.values()), [0.5576, 0.4424, 0.2437], atol=0.02)


def test_a_constant_has_no_effects_and_indices_repeat():
    assert total_effects(lambda points: np.ones(len(points)), THREE) == {"a": 0.0, "b": 0.0, "c": 0.0}
    one, other = (total_effects(lambda points: points @ [1.0, 2.0, 0.0], THREE) for _ in range(2))
    assert one == other and list(one) == ["b", "a", "c"]
    assert one["b"] == pytest.approx(0.8, abs=0.01) and one["c"] == 0.0


def test_indices_of_a_conditional_space_are_those_of_the_closed_form():
    space = Space({"kind": Categorical(["a", "b"]), "x": Real(0.0, 1.0)}, conditions={"x": When("kind", "a")})

    def x_where_it_is_active(points):
        return np.where(space.active(points)[:, 1], points[:, 1], 0.0)

    # The variance is 1/6 - 1/16 = 5/48, the mean variance given kind 1/24, that given x 1/12.
    effects = total_effects(x_where_it_is_active, space)
    assert effects == {"kind": pytest.approx(0.8, abs=0.01), "x": pytest.approx(0.4, abs=0.01)}


@pytest.mark.parametrize("rule", ["joint", "rate"])
@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_the_model_knows_which_parameters_matter(rule, direction):
    space = Space({"idle": Real(0.0, 1.0), "x": Real(0.0, 1.0), "kind": Categorical(["a", "b"])})
    optimizer = BTAO(space, n_init=6, direction=direction, **free(rule))
    with pytest.raises(RuntimeError, match="predict needs a successful light and heavy trial"):
        optimizer.importance()
    play(optimizer, 20, lambda config, level: 4 * config["x"] ** 2 + (config["kind"] == "b"))
    before = optimizer.to_json()
    effects = optimizer.importance()
    assert list(effects) == ["x", "kind", "idle"]
    assert effects["x"] > 0.6 and effects["idle"] < 0.05
    assert optimizer.to_json() == before
