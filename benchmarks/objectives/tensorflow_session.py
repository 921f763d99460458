"""TensorFlow, imported when a network is trained: quiet, deterministic, and modest with a GPU's memory."""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import sys
from collections.abc import Iterator
from types import ModuleType

ONEDNN = {"ONEDNN_MAX_CPU_ISA": "AVX2"}  # where it is not set


@functools.cache
def tensorflow() -> ModuleType:
    """TensorFlow, set up once a process.

    Op determinism is on, so equal inputs give equal bits on one machine with one number of threads;
    that holds for the whole process. oneDNN uses AVX2, so that convolutions give equal bits on processors with
    and without AVX-512, too; ONEDNN_MAX_CPU_ISA=AVX512_CORE has it use AVX-512: other bits, but the same on all
    processors that have it (`tests/measurements/cnn_vector_width.py` shows what it saves). AVX2 is taken
    where ONEDNN_MAX_CPU_ISA is not set. The numbers of threads are those that TensorFlow itself reads
    from TF_NUM_INTRAOP_THREADS and TF_NUM_INTEROP_THREADS. GPUs give memory as it is needed. Where
    TF_ENABLE_ONEDNN_OPTS is not set, oneDNN's kernels are used on every CPU; TensorFlow itself uses
    them on some only, and its others take twice the time for convolutions.

    Returns
    -------
    module
    """
    for name, value in ONEDNN.items():
        os.environ.setdefault(name, value)  # to stay: it is read when the first operation is made
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


SETTINGS = {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "1"}  # read when the library is loaded


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep what TensorFlow says of itself at its start off the screen; errors are raised, not printed."""
    missing = {name: value for name, value in SETTINGS.items() if name not in os.environ}
    level = logging.root.manager.disable
    os.environ |= missing
    logging.disable(logging.WARNING)
    try:
        with _no_stderr():
            yield
    finally:
        logging.disable(level)
        for name in missing:
            del os.environ[name]


@contextlib.contextmanager
def _no_stderr() -> Iterator[None]:
    """Close the process's stderr: what is said of oneDNN is written before the level of the log is read."""
    sys.stderr.flush()
    kept = os.dup(2)
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
