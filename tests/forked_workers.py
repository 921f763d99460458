"""Workers that are there at once: forked from a process that has imported what they need, instead of started anew.

For tests of what runs record and commands print. How workers are started is tested where they are started.
"""

from __future__ import annotations

import functools
import multiprocessing
from multiprocessing import forkserver

from benchmarks.common import environment
from benchmarks.running import worker

# What most runs import, and no library of a method, which is isolated where it is loaded. The one thread that comes
# with them, of pyarrow's allocator, gives memory back in the background: a forked process does without it.
MODULES = ["benchmarks.running.worker_process", "pandas", "scipy.stats", "sklearn.svm"]


def fork_workers(patch):
    """Let workers of this process be forked; from now on there is a process to fork them from."""
    _ensure_server()
    for module in (worker, environment):
        patch.setattr(module, "START", "forkserver")
    patch.setattr(worker, "variables", _of_one_thread)


def _of_one_thread(threads):
    assert threads == 1, f"a forked worker has one thread: use no forked_workers for threads={threads}"
    return environment.variables(threads)


@functools.cache
def _ensure_server():
    multiprocessing.get_context("forkserver").set_forkserver_preload(MODULES)
    one_thread = environment.variables(1) | worker.OTHER_VARIABLES
    with environment.environment(one_thread), worker.interrupts_blocked():
        forkserver.ensure_running()
