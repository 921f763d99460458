"""Workers that are there at once: forked from a process that has imported what they need, instead of started anew.

For tests of what runs record and commands print. How workers are started is tested where they are started.
"""

from __future__ import annotations

import functools
import multiprocessing
from multiprocessing import forkserver
from types import SimpleNamespace

from benchmarks.common import environment
from benchmarks.running import worker

# What most runs import; no library of a method, which is isolated where it is loaded, and none that starts threads.
MODULES = ["benchmarks.running.worker_process", "pandas", "pyarrow.parquet", "scipy.stats", "sklearn.svm"]


def fork_workers(patch):
    """Let workers of this process be forked, with the environment of a worker of one thread."""
    for module in (worker, environment):
        patch.setattr(module, "multiprocessing", SimpleNamespace(get_context=lambda method: _context()))


@functools.cache
def _context():
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(MODULES)
    one_thread = environment.variables(1) | worker.OTHER_VARIABLES
    with environment.environment(one_thread), worker.interrupts_blocked():
        forkserver.ensure_running()
    return context
