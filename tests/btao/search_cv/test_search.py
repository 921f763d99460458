"""btao.search_cv.search: scikit-learn's interface, the runs of both levels, failures, and the best heavy run."""

import subprocess
import sys
import warnings

import joblib
import numpy as np
import pytest
import sklearn
from scipy.stats import loguniform, uniform
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from btao import BTAO, BTAOSearchCV, Integer, Real, Space

X, Y = load_iris(return_X_y=True)
SPACE = {"x": Real(0.0, 1.0)}


class Known(ClassifierMixin, BaseEstimator):
    """Its score is a known function of its parameters; it fails where x is in a given interval."""

    def __init__(self, x=0.5, size=10, fails=(2.0, 2.0), n_bad_folds=None):
        self.x, self.size, self.fails, self.n_bad_folds = x, size, fails, n_bad_folds

    def fit(self, X, y, sample_weight=None):
        if self.fails[0] <= self.x <= self.fails[1] and (self.n_bad_folds is None or X[0, 0] == self.n_bad_folds):
            raise FloatingPointError("x is in the interval that fails")
        self.classes_, self.n_samples_, self.weights_ = np.unique(y), len(X), sample_weight
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])

    def score(self, X, y):
        return 0.9 - (self.x - 0.6) ** 2 - 1 / self.size


def search(**options):
    defaults = {"resource": "size", "light_resource": 2, "heavy_resource": 10, "n_heavy": 5, "cv": 2}
    estimator = options.pop("estimator", Known())
    return BTAOSearchCV(estimator, options.pop("space", SPACE), **{**defaults, **options})


def equal(results, others):
    """Whether two tables of results are the same but for seconds."""
    names = {name for name in results if "_time" not in name}
    assert names == {name for name in others if "_time" not in name}
    for name in names - {"params"}:
        np.testing.assert_array_equal(results[name], others[name])
    return results["params"] == others["params"]


# --- scikit-learn's interface ---------------------------------------------------------------------------------------

# RandomizedSearchCV fails it, too.
Y_2D = {"check_supervised_y_2d": "searches do not say of their estimator that it takes several outputs, as Ridge does"}
CHECKED = {"cv": 2, "n_heavy": 2, "n_init": 2, "error_score": "raise"}


@parametrize_with_checks(
    [
        BTAOSearchCV(Ridge(), {"alpha": Real(0.1, 1.0)}, **CHECKED),
        BTAOSearchCV(LogisticRegression(), {"C": [0.1, 0.5, 1.0]}, **CHECKED),
    ],
    expected_failed_checks=lambda search: Y_2D if isinstance(search.estimator, Ridge) else {},
)
def test_it_meets_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_it_is_cloned_set_and_shown_as_an_estimator():
    one = search(space=Space(SPACE), options={"ordered": True})
    other = clone(one).set_params(n_heavy=3, estimator__size=4)
    assert (one.n_heavy, other.n_heavy, other.estimator.size) == (5, 3, 4)
    assert other.space == one.space and other.options == {"ordered": True}
    assert "n_heavy=3" in repr(other)


def test_importing_btao_needs_no_scikit_learn_and_the_search_says_that_it_does():
    script = """
import sys
sys.modules["sklearn"] = None
from btao import *
import btao
assert "BTAOSearchCV" not in dir(btao)
try:
    btao.BTAOSearchCV
except ImportError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout == "BTAOSearchCV needs scikit-learn: pip install scikit-learn\n"


def test_a_pipeline_is_searched_and_refitted_on_all_samples():
    pipeline = make_pipeline(StandardScaler(), SVC())
    space = {"svc__C": loguniform(1e-2, 1e2), "svc__gamma": loguniform(1e-3, 1e1), "svc__kernel": ["rbf"]}
    found = BTAOSearchCV(pipeline, space, n_heavy=4, cv=3).fit(X, Y)
    assert set(found.best_params_) == {"svc__C", "svc__gamma", "svc__kernel"}
    scores = cross_val_score(clone(pipeline).set_params(**found.best_params_), X, Y, cv=3)
    assert found.best_score_ == scores.mean() == found.cv_results_["mean_test_score"][found.best_index_]
    refitted = clone(pipeline).set_params(**found.best_params_).fit(X, Y)
    np.testing.assert_array_equal(found.predict(X), refitted.predict(X))
    assert found.score(X, Y) == refitted.score(X, Y) > 0.95


def test_estimators_can_be_searched_as_steps():
    pipeline = make_pipeline(StandardScaler(), SVC())
    space = {"standardscaler": [StandardScaler(), "passthrough"], "svc__C": uniform(0.1, 1)}
    found = BTAOSearchCV(pipeline, space, n_heavy=2, cv=2).fit(X, Y)
    kinds = {type(params["standardscaler"]) for params in found.cv_results_["params"]}
    assert kinds == {StandardScaler, str}


def test_several_scores_are_recorded_and_the_named_one_is_searched_for():
    found = BTAOSearchCV(
        LogisticRegression(max_iter=500),
        {"C": loguniform(1e-4, 1e2)},
        scoring=["accuracy", "neg_log_loss"],
        refit="neg_log_loss",
        n_heavy=2,
        cv=2,
        return_train_score=True,
    ).fit(X, Y)
    results = found.cv_results_
    heavy = results["level"] == "heavy"
    assert found.best_score_ == results["mean_test_neg_log_loss"][heavy].max() < 0
    assert {"mean_test_accuracy", "split1_train_accuracy", "rank_test_neg_log_loss"} <= {*results}
    told = [trial.value for trial in found.optimizer_.trials]
    np.testing.assert_array_equal(told, -results["mean_test_neg_log_loss"])


def test_a_callable_refit_chooses_among_heavy_runs():
    def second(results):
        assert set(results["level"]) == {"heavy"} and len(results["params"]) == 5
        return 1

    found = search(refit=second).fit(X, Y)
    assert found.best_index_ == np.flatnonzero(found.cv_results_["level"] == "heavy")[1]
    assert found.best_estimator_.x == found.cv_results_["params"][found.best_index_]["x"]


@pytest.mark.filterwarnings("ignore:The scoring .* does not support sample_weight")
def test_groups_and_weights_are_routed_as_in_other_searches():
    groups, weights = np.arange(len(X)) % 3, np.linspace(1, 2, len(X))
    found = search(cv=GroupKFold(3)).fit(X, Y, groups=groups, sample_weight=weights)
    assert found.n_splits_ == 3
    np.testing.assert_array_equal(found.best_estimator_.weights_, weights)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = search(cv=GroupKFold(3), estimator=Known().set_fit_request(sample_weight=True))
        routed.fit(X, Y, groups=groups, sample_weight=weights)
        np.testing.assert_array_equal(routed.best_estimator_.weights_, weights)
        assert equal(routed.cv_results_, found.cv_results_)


def test_the_number_of_processes_changes_nothing():
    with joblib.parallel_config(backend="threading"):
        one, two = (search(n_jobs=n_jobs, n_heavy=2).fit(X, Y) for n_jobs in (1, 2))
    assert equal(one.cv_results_, two.cv_results_)


# --- the runs -------------------------------------------------------------------------------------------------------


def test_runs_are_those_of_the_optimizer_and_the_best_is_heavy():
    found = search(random_state=3).fit(X, Y)
    results = found.cv_results_
    heavy = results["level"] == "heavy"
    assert heavy.sum() == 5
    assert [*results["n_resources"]] == [10 if is_heavy else 2 for is_heavy in heavy]
    assert [params["size"] for params in results["params"]] == [*results["n_resources"]]
    np.testing.assert_allclose(
        results["mean_test_score"], 0.9 - (results["param_x"].astype(float) - 0.6) ** 2 - 1 / results["n_resources"]
    )
    assert found.best_params_ == results["params"][found.best_index_] and found.best_params_["size"] == 10
    assert found.best_score_ == results["mean_test_score"][heavy].max() == pytest.approx(0.8, abs=1e-3)
    told = found.optimizer_
    assert [trial.level for trial in told.trials] == [*results["level"]]
    assert [trial.config["x"] for trial in told.trials] == [*results["param_x"]]
    np.testing.assert_array_equal([trial.value for trial in told.trials], 1 - results["mean_test_score"])
    assert [trial.cost for trial in told.trials] == [*results["n_resources"]]
    assert told.rule == "rate" and not told.continues
    assert equal(search(random_state=3).fit(X, Y).cv_results_, results)
    assert search(random_state=4).fit(X, Y).best_params_ != found.best_params_


def test_a_loop_of_ask_and_tell_makes_the_same_runs():
    found = search(rule="joint", n_init=2, n_heavy=3, options={"light_per_heavy": 3}).fit(X, Y)
    loop = BTAO(Space(SPACE), seed=found.optimizer_.seed, rule="joint", n_init=2, light_per_heavy=3)
    for trial in found.optimizer_.trials:
        asked = loop.ask()
        assert (asked.level, asked.config) == (trial.level, trial.config)
        loop.tell(asked, trial.value)


@pytest.mark.parametrize(
    ("given", "light", "heavy"),
    [
        ({}, 30, 150),
        ({"heavy_resource": 100}, 20, 100),
        ({"light_resource": 60}, 60, 150),
        ({"resource": "size"}, 2, 10),
        ({"resource": "size", "heavy_resource": 2.5}, 0.5, 2.5),
    ],
)
def test_amounts_of_the_resource(given, light, heavy):
    found = BTAOSearchCV(Known(), SPACE, n_heavy=1, cv=2, **given).fit(X, Y)
    amounts = found.cv_results_["n_resources"]
    assert set(amounts[found.cv_results_["level"] == "light"]) == {light} and amounts[found.best_index_] == heavy


def test_a_light_run_has_its_share_of_the_training_samples_and_all_test_samples():
    seen = []

    def counts(estimator, X, y):
        seen.append((estimator.n_samples_, len(X)))
        return estimator.score(X, y)

    BTAOSearchCV(Known(), SPACE, n_heavy=1, cv=3, n_init=2, light_resource=30, scoring=counts).fit(X, Y)
    assert seen == [(21, 50)] * 6 + [(100, 50)] * 3  # 100 of 150 are trained on, a fifth of each class rounded up


def test_a_splitter_that_shuffles_gives_all_runs_the_same_folds():
    seen = []

    def first_sample(estimator, X, y):
        seen.append(X.sum())
        return estimator.score(X, y)

    search(cv=KFold(2, shuffle=True), scoring=first_sample, n_heavy=2).fit(X, Y)
    assert len(set(seen[::2])) == len(set(seen[1::2])) == 1 and seen[0] != seen[1]


def test_seconds_can_be_the_cost():
    found = search(cost="seconds", n_heavy=2).fit(X, Y)
    told = [trial.cost for trial in found.optimizer_.trials]
    assert told == [*found.cv_results_["mean_fit_time"]]


@pytest.mark.parametrize(("scoring", "told"), [("r2", 1), ("neg_root_mean_squared_error", 0)])
def test_scores_are_told_as_errors(scoring, told):
    folds = KFold(3, shuffle=True, random_state=0)
    found = BTAOSearchCV(Ridge(), {"alpha": loguniform(1e-3, 1e3)}, scoring=scoring, n_heavy=2, cv=folds)
    found.fit(X[:, :3], X[:, 3])
    values = [trial.value for trial in found.optimizer_.trials]
    np.testing.assert_array_equal(values, told - found.cv_results_["mean_test_score"])


def test_a_finite_space_is_exhausted_before_the_runs_are_made():
    found = search(space={"x": [0.2, 0.6, 1.0]}, n_heavy=9).fit(X, Y)
    assert sorted(found.cv_results_["level"]) == ["heavy"] * 3 + ["light"] * 3
    assert found.best_params_ == {"x": 0.6, "size": 10}


# --- failures -------------------------------------------------------------------------------------------------------


def test_a_configuration_that_no_fold_can_fit_is_a_failed_run_in_its_place():
    with pytest.warns(FitFailedWarning, match="x is in the interval that fails"):
        found = search(estimator=Known(fails=(0.58, 0.62)), n_heavy=6, return_train_score=True).fit(X, Y)
    results, told = found.cv_results_, found.optimizer_.trials
    failed = np.isnan(results["mean_test_score"])
    assert 0 < failed.sum() < len(failed)
    assert [trial.status == "failed" for trial in told] == [*failed]
    assert [trial.config["x"] for trial in told] == [*results["param_x"]]
    np.testing.assert_array_equal(failed, [0.58 <= x <= 0.62 for x in results["param_x"]])
    assert np.isnan(results["split1_train_score"][failed]).all() and not failed[found.best_index_]
    assert {len(values) for values in results.values()} == {len(told)}


def test_a_last_run_that_fails_is_recorded_too():
    found = search(
        estimator=Known(fails=(0.5, 1.0)), space={"x": [0.1, 0.55, 0.6]}, n_heavy=3, options={"design": [{"x": 0.1}]}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found.fit(X, Y)
    assert len(found.cv_results_["params"]) == len(found.optimizer_.trials) == 4
    assert found.optimizer_.trials[-1].status == "failed" and np.isnan(found.cv_results_["mean_test_score"][-1])


def test_a_fold_that_fails_fails_the_run_unless_it_is_given_a_score():
    first = X[np.flatnonzero(np.arange(len(X)) >= 75)[0], 0]
    bad = Known(fails=(0.0, 0.5), n_bad_folds=first)
    with pytest.warns(FitFailedWarning), pytest.warns(UserWarning, match=r"light run \d failed, its score is nan"):
        found = search(estimator=bad, cv=KFold(2)).fit(X, Y)
    results = found.cv_results_
    np.testing.assert_array_equal(np.isnan(results["mean_test_score"]), results["param_x"].astype(float) <= 0.5)
    with pytest.warns(FitFailedWarning):
        scored = search(estimator=bad, cv=KFold(2), error_score=0.0).fit(X, Y)
    assert all(trial.status == "ok" for trial in scored.optimizer_.trials)


def test_a_start_of_which_nothing_can_be_fitted_is_an_error():
    with pytest.raises(ValueError, match=r"All the 6 fits failed[\s\S]*x is in the interval that fails"):
        search(estimator=Known(fails=(0.0, 1.0))).fit(X, Y)
    with pytest.raises(FloatingPointError, match="x is in the interval that fails"):
        search(estimator=Known(fails=(0.0, 1.0)), error_score="raise").fit(X, Y)


def test_heavy_runs_that_all_fail_are_an_error():
    class Small(Known):
        def score(self, X, y):
            return super().score(X, y) if self.size < 10 else np.nan

    with (
        pytest.raises(ValueError, match=r"no heavy run succeeded: none of \d has a finite score"),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        search(estimator=Small(), n_heavy=2).fit(X, Y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_heavy": 0}, "n_heavy must be an integer of at least 1, got 0"),
        ({"cost": "money"}, "cost must be one of .*, got 'money'"),
        (
            {"resource": "sizes"},
            "resource must be 'n_samples' or a parameter of the estimator, got 'sizes': .* 'size'?",
        ),
        ({"space": {"size": Integer(1, 3)}}, "resource='size' is in space, too"),
        ({"light_resource": 10}, "light_resource must be an integer above 0 and below heavy_resource=10, got 10"),
        ({"light_resource": 0.5}, "light_resource must be an integer above 0 and below heavy_resource=10, got 0.5"),
        ({"heavy_resource": "all"}, "heavy_resource must be a number above 0 of 'size', got 'all'"),
        ({"heavy_resource": 1, "light_resource": None}, "size=1 leaves no less for light runs"),
        ({"resource": "n_samples", "heavy_resource": 151}, "heavy_resource must be a number of samples from 1 to 150"),
        ({"rule": "best"}, "rule must be one of"),
        ({"options": {"direction": "maximize"}}, r"options must leave \['direction'\] to the arguments of the search"),
        ({"options": {"rule": "joint"}}, r"options must leave \['rule'\] to the arguments of the search"),
        ({"scoring": ["accuracy", "f1_macro"], "refit": False}, "refit must name the score that is searched for"),
        ({"scoring": lambda *_: {"a": 1.0, "b": 0.0}, "refit": False}, r"refit must be one of the scores \['a', 'b'\]"),
    ],
)
def test_a_mistake_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        search(**options).fit(X, Y)
