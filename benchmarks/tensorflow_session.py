"""TensorFlow, imported when a network is trained: quiet, deterministic, and modest with a GPU's memory."""

from __future__ import annotations

import contextlib
import functools
import logging
import os
from collections.abc import Iterator
from types import ModuleType


@functools.cache
def tensorflow() -> ModuleType:
    """TensorFlow, set up once a process.

    Op determinism is on, so equal inputs give equal bits on one machine with one number of threads;
    that holds for the whole process. The numbers of threads are those that TensorFlow itself reads
    from TF_NUM_INTRAOP_THREADS and TF_NUM_INTEROP_THREADS. GPUs give memory as it is needed.

    Returns
    -------
    module
    """
    with _quiet():
        import tensorflow as tf

        tf.config.experimental.enable_op_determinism()
        with contextlib.suppress(RuntimeError):  # somebody has used a GPU before: its memory is laid out
            for gpu in tf.config.list_physical_devices("GPU"):
                tf.config.experimental.set_memory_growth(gpu, True)
        tf.config.list_logical_devices()  # starts the devices, with what they have to say
        # It warns where functions are traced often, as those of networks of different shapes have to be.
        tf.get_logger().setLevel(logging.ERROR)
    return tf


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep what TensorFlow says of itself at its start off the screen; errors are raised, not printed."""
    name = "TF_CPP_MIN_LOG_LEVEL"  # read when the library is loaded
    before, level = os.environ.get(name), logging.root.manager.disable
    os.environ[name] = "3" if before is None else before
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(level)
        if before is None:
            del os.environ[name]
