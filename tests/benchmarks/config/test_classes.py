"""What a class says of itself in the place of a file."""

import pytest

from benchmarks.common.errors import UsageError
from benchmarks.config.classes import document_of
from benchmarks.config.options import SCALES


class Task:
    """Says this.

    And more.
    """

    def __init__(self, size, rate: float = 0.5, bounds=(0, 1), how=print, data=None):
        pass


def test_the_parameters_are_those_with_a_default_that_a_file_can_hold():
    document = document_of("method", "mine", Task, "a:Task")
    assert document == {"_target_": "a:Task", "rate": 0.5, "bounds": [0, 1], "data": None}


def test_a_task_is_described_by_its_docstring_and_has_a_budget_at_every_scale():
    document = document_of("task", "mine", Task, "a:Task")
    assert (document["name"], document["description"]) == ("mine", "Says this.")
    assert document["scales"] == {scale: {"budget": {"heavy": 20}} for scale in SCALES}


def test_a_budget_that_is_none_is_refused():
    class Own(Task):
        budget = {"hevy": 3}  # noqa: RUF012

    with pytest.raises(UsageError, match=r"^task mine, a:Own: unknown key 'scales.smoke.budget.hevy': did you mean"):
        document_of("task", "mine", Own, "a:Own")


def test_what_is_no_class_is_refused():
    with pytest.raises(UsageError, match=r"^method mine: 'a:b' is 3: give a class"):
        document_of("method", "mine", 3, "a:b")
