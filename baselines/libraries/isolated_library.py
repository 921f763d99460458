"""A room of its own for a wrapped library: it changes nothing outside, and cannot hang unseen."""

from __future__ import annotations

import contextlib
import logging
import random
import signal
import threading
import time
import traceback
import warnings
from collections.abc import Iterator
from types import FrameType
from typing import Any

import numpy as np

PATIENCE = 900.0  # seconds for one call; the slowest proposal measured took a hundredth of it


class NoProposal(RuntimeError):
    """A library did not come back in time; the message holds what it said last and where it was."""


class IsolatedLibrary:
    """Runs code of a library apart from the rest of the process.

    Inside `with isolation:` the global generators of `random` and numpy are the library's own: they
    start from `seed` and go on where the last block left them. What it logs is kept, not printed;
    warnings are not shown; numpy treats floating-point errors as it does by default. Generators,
    log levels, handlers, filters and error treatment are the caller's again afterwards. In the main
    thread, a block that takes longer than `patience` seconds is broken off: a guard against a
    library that hangs, which decides nothing else. A block within a block of the same isolation
    changes nothing; blocks of different ones may be nested, and the guards of all of them hold.

    Parameters
    ----------
    library : str
        Its name, for messages.
    seed : int
    patience : float
        Seconds.

    Attributes
    ----------
    seed : int
        As given: whatever else of the library takes a seed gets this one, so that all of them are
        handed over in one place.
    short_seed : int
        A number of 32 bits made of it, for libraries that take no larger one.
    last_message : str
        The last record that the library logged, or its last warning; empty if there is none.

    Raises
    ------
    NoProposal
        From within the block, if it takes too long; at its end, if the library caught that.
    """

    def __init__(self, library: str, seed: int, patience: float = PATIENCE) -> None:
        self._library = library
        self._patience = patience
        self._python = random.Random(seed).getstate()
        # numpy's global generator takes 32 bits; the seed's others must not be lost.
        words = np.random.SeedSequence(seed).generate_state(4)
        self.seed = seed
        self.short_seed = int(words[0])
        self._numpy = np.random.RandomState(words).get_state()
        self.last_message = ""
        self._depth = 0
        self._inside = contextlib.ExitStack()

    def __enter__(self) -> IsolatedLibrary:
        if self._depth == 0:
            with contextlib.ExitStack() as stack:
                stack.enter_context(self._generators())
                stack.enter_context(np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"))
                stack.enter_context(self._logging())
                stack.enter_context(self._warnings())
                stack.enter_context(self._deadline())
                self._inside = stack.pop_all()
        self._depth += 1
        return self

    def __exit__(self, *error: Any) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._inside.__exit__(*error)

    @contextlib.contextmanager
    def _generators(self) -> Iterator[None]:
        outside = random.getstate(), np.random.get_state()  # noqa: NPY002
        random.setstate(self._python)
        np.random.set_state(self._numpy)  # noqa: NPY002
        try:
            yield
        finally:
            self._python, self._numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
            random.setstate(outside[0])
            np.random.set_state(outside[1])  # noqa: NPY002

    @contextlib.contextmanager
    def _logging(self) -> Iterator[None]:
        """Let every record end here; the handlers of the caller's loggers are out of reach meanwhile."""

        def keep(_: logging.Logger, record: logging.LogRecord) -> None:
            try:
                self.last_message = record.getMessage()
            except Exception:  # arguments that do not fit: logging never fails its caller
                self.last_message = str(record.msg)

        known = [logging.root, *(x for x in logging.root.manager.loggerDict.values() if isinstance(x, logging.Logger))]
        before = [(x, x.level, x.handlers, x.filters[:], x.propagate, x.disabled) for x in known]
        disabled = logging.root.manager.disable
        for logger in known:
            logger.handlers = []
        # Not a handler on the root: loggers made meanwhile bring handlers of their own.
        call_handlers = logging.Logger.callHandlers
        logging.Logger.callHandlers = keep  # type: ignore[assignment, method-assign]
        try:
            yield
        finally:
            logging.Logger.callHandlers = call_handlers  # type: ignore[method-assign]
            # To set a level forgets what is enabled of every logger, which takes long: only where one or `disable` has
            # changed.
            stale = logging.root.manager.disable != disabled
            logging.root.manager.disable = disabled
            there = set(known)
            for new in logging.root.manager.loggerDict.values():
                if isinstance(new, logging.Logger) and new not in there:
                    new.handlers = []  # made meanwhile: silent outside too
                    new.addHandler(logging.NullHandler())
            for logger, level, handlers, filters, propagate, off in before:
                if stale or logger.level != level:
                    logger.setLevel(level)
                    stale = False
                logger.handlers, logger.filters = handlers, filters
                logger.propagate, logger.disabled = propagate, off

    @contextlib.contextmanager
    def _warnings(self) -> Iterator[None]:
        def keep(message: Warning | str, *_: Any, **__: Any) -> None:
            self.last_message = str(message)

        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = keep
            yield

    @contextlib.contextmanager
    def _deadline(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield  # no signal reaches another thread
            return

        given_up: NoProposal | None = None

        def give_up(_: int, frame: FrameType | None) -> None:
            nonlocal given_up
            where = traceback.extract_stack(frame)[-1] if frame else None
            said = f"; it said last: {self.last_message}" if self.last_message else ""
            at = f", at {where.filename}:{where.lineno} in {where.name}" if where else ""
            given_up = NoProposal(f"{self._library} did not answer within {self._patience:g} seconds{at}{said}")
            raise given_up

        handler = signal.signal(signal.SIGALRM, give_up)
        started = time.monotonic()
        # Again and again: a library may catch the first exception and go on.
        due, interval = signal.setitimer(signal.ITIMER_REAL, self._patience, self._patience)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL if handler is None else handler)
            if due:  # the caller's own alarm, or an outer isolation's: when it is due, or at once
                signal.setitimer(signal.ITIMER_REAL, max(due - (time.monotonic() - started), 1e-6), interval)
        if given_up is not None:  # the library caught it and answered something else
            raise given_up
