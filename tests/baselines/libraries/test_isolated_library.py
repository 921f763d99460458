"""The isolation: what a library does inside is its own affair, and it cannot hang unseen."""

import contextlib
import io
import logging
import random
import re
import signal
import subprocess
import sys
import threading
import time
import uuid
import warnings

import numpy as np
import pytest

from baselines.libraries.isolated_library import IsolatedLibrary, NoProposal


def draw():
    """Two numbers of the global generators."""
    return random.random(), np.random.random()  # noqa: NPY002


def states():
    kind, keys, *rest = np.random.get_state()  # noqa: NPY002
    return random.getstate(), kind, keys.tolist(), rest


def inside(isolation, action):
    with isolation:
        return action()


def logger_name():
    return f"test-isolation-{uuid.uuid4()}"


@contextlib.contextmanager
def root_handler():
    """A handler of the caller's on the root logger; yields the stream that it writes to."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    logging.root.addHandler(handler)
    try:
        yield stream
    finally:
        logging.root.removeHandler(handler)


def test_generators_are_the_callers_again():
    before = states()
    inside(IsolatedLibrary("library", 0), draw)
    assert states() == before


def test_generators_are_the_callers_again_after_an_error_of_the_library_which_surfaces():
    before = states()
    with pytest.raises(KeyError, match="its own words"), IsolatedLibrary("library", 0):
        draw()
        raise KeyError("its own words")
    assert states() == before


def test_generators_go_on_where_the_last_block_left_them():
    once, twice = IsolatedLibrary("library", 3), IsolatedLibrary("library", 3)
    whole = inside(once, lambda: [draw(), draw(), draw()])
    parts = inside(twice, lambda: [draw()])
    draw()  # the caller's draws do not matter
    with contextlib.suppress(ZeroDivisionError), twice:
        parts.append(draw())
        raise ZeroDivisionError
    assert [*parts, inside(twice, draw)] == whole


def test_generators_do_not_depend_on_the_callers():
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002
    first = inside(IsolatedLibrary("library", 5), draw)
    random.seed(2)
    np.random.seed(2)  # noqa: NPY002
    assert inside(IsolatedLibrary("library", 5), draw) == first


def test_every_bit_of_a_seed_counts():
    seeds = (0, 1, 2**32, 2**62 + 1, 2**63 - 1)
    draws = [inside(IsolatedLibrary("library", seed), draw) for seed in seeds]
    assert all(len(set(column)) == len(seeds) for column in zip(*draws, strict=True))


def test_the_seed_is_there_for_what_else_a_library_seeds():
    seeds = (0, 1, 2**32, 2**62 + 1)
    isolations = [IsolatedLibrary("library", seed) for seed in seeds]
    assert tuple(each.seed for each in isolations) == seeds
    short = [each.short_seed for each in isolations]
    assert short == [int(np.random.SeedSequence(seed).generate_state(1)[0]) for seed in seeds]
    assert len({*short}) == len(seeds)


def test_floating_point_errors_are_treated_as_numpy_does_by_default_inside_and_as_before_outside():
    with np.errstate(all="raise"):
        before = np.geterr()
        with IsolatedLibrary("library", 0):
            assert np.geterr() == {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}
            np.seterr(all="ignore")
        assert np.geterr() == before


def test_records_are_kept_and_not_shown(capsys):
    isolation = IsolatedLibrary("library", 0)
    known, name = logging.getLogger(logger_name()), logger_name()
    known.addHandler(logging.StreamHandler(sys.stderr))
    with root_handler() as stream:
        with isolation:
            known.error("an %s one", "old")
            assert isolation.last_message == "an old one"
            made = logging.getLogger(name)
            made.addHandler(logging.StreamHandler(sys.stderr))
            made.propagate = False
            made.error("from a handler of its own")
            assert isolation.last_message == "from a handler of its own"
            logging.root.info("below the level that the caller set")
            known.warning("the last one")
        assert isolation.last_message == "the last one"
        assert stream.getvalue() == ""
    assert capsys.readouterr() == ("", "")


def test_a_record_with_arguments_that_do_not_fit_is_kept_as_it_is(capsys):
    isolation = IsolatedLibrary("library", 0)
    with isolation:
        logging.getLogger(logger_name()).error("%d of %d", 1)
    assert isolation.last_message == "%d of %d"
    assert capsys.readouterr() == ("", "")


def test_whatever_a_library_does_to_logging_is_undone():
    known = logging.getLogger(logger_name())
    known.setLevel(logging.DEBUG)
    known.propagate = False
    handler = logging.StreamHandler(io.StringIO())
    known.addHandler(handler)
    known.addFilter(keep := logging.Filter())
    loggers = (logging.root, known)

    def configuration():
        return [(x.level, x.handlers[:], x.filters[:], x.propagate, x.disabled) for x in loggers]

    with root_handler():
        before = configuration(), logging.root.manager.disable
        with pytest.raises(ZeroDivisionError), IsolatedLibrary("library", 0):
            for logger in loggers:
                logger.setLevel(logging.CRITICAL)
                logger.addHandler(logging.NullHandler())
                logger.addFilter(lambda record: False)
                logger.propagate = not logger.propagate
                logger.disabled = True
            logging.disable(logging.CRITICAL)
            known.isEnabledFor(logging.ERROR)  # what is disabled is cached
            raise ZeroDivisionError
        assert (configuration(), logging.root.manager.disable) == before
    known.error("heard")
    assert handler.stream.getvalue() == "heard\n"
    assert known.filters == [keep]


def test_what_a_library_disables_is_enabled_outside_though_no_level_has_changed():
    known = logging.getLogger(logger_name())
    known.addHandler(logging.StreamHandler(heard := io.StringIO()))
    with IsolatedLibrary("library", 0):
        logging.disable(logging.CRITICAL)
        assert not known.isEnabledFor(logging.ERROR)  # which is cached
    known.error("heard")
    assert heard.getvalue() == "heard\n"


def test_levels_that_have_not_changed_are_not_set(monkeypatch):
    """It takes milliseconds, and a library may be asked thousands of times."""
    sets = []
    with IsolatedLibrary("library", 0):
        monkeypatch.setattr(logging.Logger, "setLevel", lambda logger, level: sets.append(logger))
    assert sets == []


def test_loggers_made_inside_print_nothing_outside_either():
    program = """
import logging, sys
from baselines.libraries.isolated_library import IsolatedLibrary
with IsolatedLibrary("library", 0):
    logger = logging.getLogger("made.inside")
    logger.addHandler(logging.StreamHandler(sys.stdout))
logger.error("unheard")
logging.getLogger("caller's").error("heard")
"""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("", "heard\n")


def test_loggers_made_inside_are_quiet_in_the_next_block_too(capsys):
    isolation, name = IsolatedLibrary("library", 0), logger_name()
    with isolation:
        logging.getLogger(name).addHandler(logging.StreamHandler(sys.stderr))
    with isolation:
        logging.getLogger(name).error("again")
    assert isolation.last_message == "again"
    assert capsys.readouterr() == ("", "")


def test_warnings_are_kept_and_not_shown_even_where_the_caller_makes_them_errors():
    isolation = IsolatedLibrary("library", 0)
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("error")
        filters, show = warnings.filters[:], warnings.showwarning
        with isolation:
            for text in ("first", "second"):
                warnings.warn(text, FutureWarning, stacklevel=1)
            assert isolation.last_message == "second"
            warnings.simplefilter("ignore")
        assert (warnings.filters, warnings.showwarning) == (filters, show)
        with pytest.raises(UserWarning, match="the caller's"):
            warnings.warn("the caller's", stacklevel=1)
    assert shown == []


def test_the_last_message_is_the_last_record_or_warning():
    isolation = IsolatedLibrary("library", 0)
    with isolation:
        warnings.warn("warned", stacklevel=1)
        logging.error("logged")
    assert isolation.last_message == "logged"
    with isolation:
        pass
    assert isolation.last_message == "logged"


def busy():
    """Never comes back."""
    while True:
        pass


def test_a_library_that_hangs_is_broken_off_with_its_last_words_and_where_it_was():
    isolation = IsolatedLibrary("dawdler", 0, patience=0.2)
    before, handler = states(), signal.getsignal(signal.SIGALRM)
    filters, handlers = warnings.filters[:], logging.root.handlers[:]
    line = busy.__code__.co_firstlineno
    with pytest.raises(NoProposal) as error, isolation:
        warnings.warn("nearly there", stacklevel=1)
        busy()
    message = str(error.value)
    assert re.fullmatch(
        rf"dawdler did not answer within 0\.2 seconds, at {re.escape(__file__)}:(\d+) in busy; "
        "it said last: nearly there",
        message,
    ), message
    assert int(re.search(r":(\d+) in busy", message).group(1)) - line in (2, 3)
    assert states() == before
    assert (warnings.filters, logging.root.handlers) == (filters, handlers)
    assert signal.getsignal(signal.SIGALRM) == handler
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_library_that_hangs_in_silence_is_not_said_to_have_spoken():
    with pytest.raises(NoProposal, match=r"in busy$"), IsolatedLibrary("dawdler", 0, patience=0.05):
        busy()


def test_a_library_that_catches_every_exception_is_broken_off_all_the_same():
    caught = []
    with pytest.raises(NoProposal), IsolatedLibrary("dawdler", 0, patience=0.1):
        try:
            busy()
        except Exception as error:
            caught.append(error)
        busy()
    assert [type(error) for error in caught] == [NoProposal]


def test_a_library_that_catches_every_exception_and_answers_is_broken_off_at_the_end_of_the_block():
    before, filters, handler = states(), warnings.filters[:], signal.getsignal(signal.SIGALRM)
    dawdler = IsolatedLibrary("dawdler", 0, patience=0.1)
    with pytest.raises(NoProposal, match="dawdler did not answer"), dawdler, contextlib.suppress(NoProposal):
        busy()
    assert (states(), warnings.filters, signal.getsignal(signal.SIGALRM)) == (before, filters, handler)


def test_an_error_of_a_library_that_was_broken_off_is_its_own():
    with pytest.raises(KeyError, match="its own words"), IsolatedLibrary("dawdler", 0, patience=0.1):
        try:
            busy()
        except NoProposal as error:
            raise KeyError("its own words") from error


def test_a_library_that_answers_in_time_is_left_alone_afterwards():
    with IsolatedLibrary("library", 0, patience=0.05):
        pass
    time.sleep(0.1)


def test_the_callers_alarm_and_its_handler_are_put_back():
    rung = []
    handler = signal.signal(signal.SIGALRM, lambda *_: rung.append("caller's"))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1, 7.0)
        with IsolatedLibrary("library", 0):
            time.sleep(0.15)  # due meanwhile, and late
            assert rung == []
        deadline = time.monotonic() + 5
        while not rung and time.monotonic() < deadline:
            time.sleep(0.01)
        assert rung == ["caller's"]
        assert 6.0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 7.0
        with IsolatedLibrary("library", 0):
            time.sleep(0.05)
        assert 5.0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 6.96
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, handler)


def test_outside_the_main_thread_everything_but_the_guard_holds():
    result = []

    def body():
        before = states()
        result.append(inside(IsolatedLibrary("library", 5, patience=0.01), lambda: (time.sleep(0.05), draw())[1]))
        result.append(states() == before)

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    assert result == [inside(IsolatedLibrary("library", 5), draw), True]


def test_a_block_within_a_block_of_the_same_isolation_changes_nothing():
    nested, plain = IsolatedLibrary("library", 2, patience=60.0), IsolatedLibrary("library", 2)
    before, handler, handlers = states(), signal.getsignal(signal.SIGALRM), logging.root.handlers[:]
    with nested:
        draws = [draw()]
        with nested:
            draws.append(draw())
        draws.append(draw())
        logging.getLogger(logger_name()).error("still inside")
        assert nested.last_message == "still inside"
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 60.0
    assert draws == inside(plain, lambda: [draw(), draw(), draw()])
    assert states() == before
    assert logging.root.handlers == handlers
    assert signal.getsignal(signal.SIGALRM) == handler


def test_blocks_of_different_isolations_may_be_nested():
    outer, inner = IsolatedLibrary("outer", 0), IsolatedLibrary("inner", 1)
    expected = inside(IsolatedLibrary("outer", 0), lambda: [draw(), draw()])
    before = states()
    with outer:
        draws = [draw()]
        with inner:
            warnings.warn("the inner one's", stacklevel=1)
            of_inner = draw()
        draws.append(draw())
    assert draws == expected
    assert of_inner == inside(IsolatedLibrary("inner", 1), draw)
    assert states() == before
    assert (outer.last_message, inner.last_message) == ("", "the inner one's")


def test_the_guard_of_an_outer_block_holds_after_an_inner_one():
    with pytest.raises(NoProposal, match="outer did not answer"), IsolatedLibrary("outer", 0, patience=0.2):
        with IsolatedLibrary("inner", 0, patience=60.0):
            pass
        busy()


def test_the_guard_of_an_inner_block_does_not_use_up_that_of_the_outer_one():
    with IsolatedLibrary("outer", 0, patience=60.0):
        with pytest.raises(NoProposal, match="inner did not answer"), IsolatedLibrary("inner", 0, patience=0.1):
            busy()
        assert 55.0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 59.95
