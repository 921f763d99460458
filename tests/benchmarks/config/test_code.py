"""Classes that no other process can import: what is their source, and that they come back."""

import pickle
import threading

import pytest

from baselines.random_search import RandomSearch
from benchmarks.common.errors import UsageError
from benchmarks.config.code import capture, is_importable, target
from btao import Real, Space

STEP = 3


def helper(x):
    return x + 1


def made(text, **names):
    """The class `Mine` of a source that has no module, as a notebook's cell has it in its namespace."""
    import linecache

    path = f"<cell {hash(text)}>"
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    space = {"__name__": "__main__", **names}
    exec(compile(text, path, "exec"), space)
    return space["Mine"]


CELL = """\
import functools

SIZE = 5

@functools.cache
def slow():
    return SIZE

def double(x):
    return 2 * x

@str
def other():
    pass

class Mine:
    size = SIZE

    def work(self):
        return [double(x) for x in range(slow())]
"""


def test_what_a_file_holds_is_imported_and_not_captured():
    assert is_importable(RandomSearch)
    assert capture(RandomSearch) is None
    assert target(RandomSearch) == "baselines.random_search:RandomSearch"


def test_a_class_of_a_cell_comes_back_with_what_it_uses():
    code = capture(made(CELL))
    loaded = pickle.loads(pickle.dumps(code)).load()
    assert loaded().work() == [0, 2, 4, 6, 8]
    assert code.load() is code.load()


def test_the_class_stays_what_it_is_where_it_was_captured():
    cls = made(CELL)
    code = capture(cls)
    assert code.load() is cls
    cls.work.__globals__["SIZE"] = 2
    assert capture(cls).digest != code.digest


def test_the_source_is_that_of_the_class_and_of_what_it_uses_beside_it():
    source = capture(made(CELL)).source
    assert source.splitlines()[0] == "class Mine:"
    assert "SIZE = 5" in source and "def double(x):" in source and "def slow():" in source
    assert "other" not in source


@pytest.mark.parametrize(
    ("old", "new"), [("2 * x", "3 * x"), ("SIZE = 5", "SIZE = 6"), ("return SIZE", "return SIZE - 1")]
)
def test_another_source_has_another_digest(old, new):
    assert capture(made(CELL)).digest == capture(made(CELL)).digest
    assert capture(made(CELL.replace(old, new))).digest != capture(made(CELL)).digest


def test_what_is_not_used_changes_no_digest():
    assert capture(made(CELL.replace("pass", "return 1"))).digest == capture(made(CELL)).digest


def test_the_source_of_a_class_within_a_function_is_found():
    class Mine:
        def work(self):
            return helper(STEP)

    code = capture(Mine)
    assert code.source.startswith("class Mine:\n    def work(self):\n        return helper(STEP)")
    assert "STEP = 3" in code.source
    assert code.load()().work() == 4


def test_a_class_without_a_source_is_refused():
    with pytest.raises(UsageError, match="Mine has no source that could be kept: write it in a file or a notebook's"):
        capture(type("Mine", (), {"__module__": "__main__"}))


def test_what_cannot_go_to_another_process_is_named():
    lock = threading.Lock()

    class Mine:
        def work(self):
            return lock

    with pytest.raises(UsageError, match=r"^Mine cannot go to another process: "):
        capture(Mine)


VALUED = """\
class Mine:
    size = SIZE
    space = SPACE

    def work(self):
        return [step(1) for step in STEPS]
"""


def test_values_of_other_cells_that_a_class_is_given_tell_its_code_apart():
    given = {"SIZE": 5, "SPACE": Space({"x": Real(0, 1)}), "STEPS": (abs, 2)}
    first = capture(made(VALUED, **given))
    assert "size = 5\n" in first.source and "Real(low=0.0, high=1.0" in first.source
    assert capture(made(VALUED, **given)).digest == first.digest
    for changed in ({"SIZE": 6}, {"SPACE": Space({"x": Real(0, 2)})}):
        assert capture(made(VALUED, **given | changed)).digest != first.digest


def test_the_code_is_the_same_wherever_its_functions_lie_in_memory():
    def code(bound):
        text = f"def below(config):\n    return config['x'] < {bound}\n\n{VALUED}"
        names = {"SIZE": 5, "Space": Space, "Real": Real, "STEPS": (len, lambda value: value)}
        return capture(made(text.replace("SPACE", "Space({'x': Real(0, 1)}, constraint=below)"), **names))

    assert code(1).digest == code(1).digest != code(2).digest
    assert "at 0x" not in code(1).source
