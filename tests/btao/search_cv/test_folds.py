"""btao.search_cv.folds: every trial sees the same folds, a light one a share of each class."""

import numpy as np
import pytest
from sklearn.model_selection import KFold

from btao.search_cv.folds import Folds, Subsampled

X = np.zeros((40, 1))
Y = np.array([0] * 30 + [1] * 9 + [2])


def plain(folds):
    return [(train.tolist(), test.tolist()) for train, test in folds.split(X, Y)]


def test_a_splitter_that_shuffles_is_asked_once():
    folds = Folds(KFold(4, shuffle=True))
    assert plain(folds) == plain(folds)
    assert [sorted([*train, *test]) for train, test in plain(folds)] == [[*range(40)]] * 4


def test_every_class_keeps_its_share_rounded_up():
    whole = Folds(KFold(4, shuffle=True, random_state=0))
    light = Subsampled(whole, share=0.2, seed=3, stratified=True)
    for (train, test), (part, same) in zip(plain(whole), plain(light), strict=True):
        assert same == test and set(part) < set(train) and part == sorted(part)
        for each in (0, 1, 2):
            assert np.sum(Y[part] == each) == np.ceil(0.2 * np.sum(Y[train] == each))


@pytest.mark.parametrize("share", [0.1, 0.3, 0.7])
def test_a_share_of_the_whole_is_not_rounded_up_from_a_whole_number(share):
    light = Subsampled(Folds(KFold(4)), share=share, seed=0, stratified=False)
    assert [len(train) for train, _ in plain(light)] == [round(30 * share)] * 4


def test_seeds_decide_which_samples_and_folds_differ():
    folds = Folds(KFold(2))
    first, again, other = (plain(Subsampled(folds, 0.5, seed, stratified=True)) for seed in (0, 0, 1))
    assert first == again != other


def test_labels_of_two_dimensions_are_not_stratified():
    light = Subsampled(Folds(KFold(4)), share=0.5, seed=0, stratified=True)
    folds = [*light.split(X, np.column_stack([Y, Y]))]
    assert [len(train) for train, _ in folds] == [15] * 4
