"""What the curves of a table say: against values worked out by hand."""

import dataclasses
import math

import numpy as np
import pandas
import pytest
from PIL import Image
from scipy.stats import spearmanr

from benchmarks.analysis import checks as claim_checks
from benchmarks.analysis.recorded import training_curves as curves
from benchmarks.data.source import DataSource
from benchmarks.figures import training_curves as curve_plots
from benchmarks.tables import table as tables
from btao.training import Level

FCN = {"version": 1, "parameters": {"light_iterations": 2, "heavy_iterations": 4}}
# Three that train, one that never is better than guessing, one that diverges.
ERRORS = [[0.8, 0.5, 0.5, 0.4], [0.3, 0.6, 0.1, 0.2], [0.9, 0.85, 0.45, 0.3], [0.9, 0.95, 0.9, 0.9], [0.8, math.nan]]
SECONDS = [[1, 2, 3, 10], [1, 2, 4, 5], [1, 2, 3, 4], [1, 2, 3, 4], [1, 2], [1, 2, 3, 4]]


def table(errors=ERRORS, iterations=(1, 2, 3, 4), every_iteration=True, **head):
    rows = [
        {"configuration": c, "config.units": 16 + c, "iteration": i, "consumed": i, "validation_error": error}
        | {"training_error": error, "test_error": error, "seconds": 2.0 * seconds, "processor_seconds": float(seconds)}
        for c, (curve, clock) in enumerate(zip(errors, SECONDS, strict=False))
        for i, error, seconds in zip(iterations, curve, clock, strict=False)
    ]
    values = {"task": "fcn", "scale": "smoke", "data": DataSource("d", "0" * 64, 100, 50), "seed": 0, "threads": 1}
    head = tables.Head(**values | FCN | head, every_iteration=every_iteration, made_by=())
    return tables.Table("t", head, pandas.DataFrame(rows).astype(tables.COLUMNS))


def test_levels_are_those_of_the_recorded_task():
    assert curves.levels(table()) == (Level(2, 3, 0.001), Level(4, 3, 0.0))


def test_errors_so_far_are_the_best_until_then():
    so_far = curves.errors_so_far(table())
    assert so_far.index.tolist() == [0, 1, 2, 3]
    assert so_far.loc[1].tolist() == [0.3, 0.3, 0.1, 0.1]


def test_errors_stay_what_they_were_where_training_was_stopped():
    ended = table([ERRORS[0], ERRORS[1][:2], ERRORS[4]], full_length=False)
    assert curves.errors_so_far(ended).to_numpy().tolist() == [[0.8, 0.5, 0.5, 0.4], [0.3] * 4]
    assert curves.rank_correlations(ended).tolist() == pytest.approx([1.0, 1.0, 1.0, 1.0])


def test_what_the_levels_measure():
    values = curves.of_levels(table(), Level(2), Level(4, patience=1))
    assert values["light"].tolist() == [0.5, 0.3, 0.85, 0.9]
    assert values["heavy"].tolist() == [0.5, 0.3, 0.3, 0.9]  # the first two stop where an iteration brings nothing
    assert values["heavy_stop"].tolist() == [3, 2, 4, 2]


def later(table):
    """The table with its configurations behind the center and the eight corners, as Sobol configurations are."""
    return dataclasses.replace(table, rows=table.rows.assign(configuration=table.rows["configuration"] + 9))


def test_what_claims_make_of_curves():
    quick = claim_checks.quick_improvement(later(table()), improvement=0.75, time=0.2)  # shares 0.8, 0.75 and 0
    assert (quick.value, quick.n) == (2 / 3, 3)
    ordered = claim_checks.ordered_curves(later(table([*ERRORS, [0.3, 0.2, 0.5, 0.6]])))
    assert (ordered.value, ordered.n) == (4 / 5, 5)  # the diverged one is left out


def test_claims_leave_out_the_center_and_the_corners():
    with pytest.raises(claim_checks.Undecided, match="nothing to count"):
        claim_checks.quick_improvement(table(), improvement=0.75, time=0.2)
    grid = {"batch_size": [8], "units": [16], "learning_rate": [0.1]}
    assert claim_checks.quick_improvement(table(grid=grid), improvement=0.75, time=0.2).n == 3  # has no corners first
    with pytest.raises(claim_checks.Undecided, match="nothing to count"):
        claim_checks.ordered_curves(table())


def test_of_a_solver_the_recorded_numbers_of_iterations_are_read():
    sparse = table([[0.8, 0.4, 0.5]], iterations=(50, 167, 500), every_iteration=False)
    values = curves.of_levels(sparse, Level(50), Level(500))
    assert values.loc[0].tolist() == [0.8, 0.5, 50, 500]  # no run of 500 iterations sees the machine of 167


def test_shares_of_the_improvement_hold_until_the_next_iteration():
    at = np.array([0.0, 0.1, 0.19, 0.2, 0.3, 0.99, 1.0])
    shares = curves.improvement_shares(table(), Level(4), at)
    assert shares.shape == (3, 7)
    assert shares[0] == pytest.approx([0, 0.2, 0.2, 0.8, 0.8, 0.8, 1])  # of 0.5, after 1, 2, 3 and 10 seconds
    assert shares[1] == pytest.approx([0, 0, 0, 0.75, 0.75, 1, 1])
    assert curves.improvement_shares(table(), Level(2), np.array([0.5, 1.0]))[0] == pytest.approx([0.25, 1])


def test_rank_correlations_are_spearmans():
    found = curves.rank_correlations(table())
    so_far = curves.errors_so_far(table()).to_numpy()
    for column, iteration in enumerate((1, 2, 3, 4)):
        assert found[iteration] == pytest.approx(spearmanr(so_far[:, column], so_far[:, -1]).statistic)
    assert found[4] == 1


@pytest.mark.parametrize(("every_iteration", "panels"), [(True, 4), (False, 3)])
def test_a_figure_has_its_panels_and_says_what_it_shows(tmp_path, every_iteration, panels):
    figure = curve_plots.figure_table(table(ERRORS[:4], every_iteration=every_iteration))
    assert len(figure.axes) == panels
    assert "4 configurations on d, 100 training images" in figure.get_suptitle()
    with Image.open(curve_plots.save(figure, tmp_path / "new" / "t.png")) as image:
        assert len(image.getcolors(2**24)) > 50
