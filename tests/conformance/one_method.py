"""Run each method in a process of its own; print its trials and what it changed outside, as JSON.

It reads lines from stdin: the JSON of [name of the method, folder, module ...], where the modules are loaded before.
The process that runs in the folder is forked, so that this one, which imports what all need, has seen no library of
a method. It writes to out.json and err.txt beside the folder; when it has ended, its exit status is printed here.
"""

import faulthandler
import gc
import importlib
import json
import locale
import logging
import os
import random
import signal
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import scipy.stats  # noqa: F401 (it adds a filter of warnings when it is imported)
import test_methods as conformance
import threadpoolctl

PROBLEM = "real"
N = 12  # trials
LIMIT = 300  # seconds, after which a process says where it is and ends


def loggers():
    known = logging.root.manager.loggerDict.items()
    return {name: x for name, x in known if isinstance(x, logging.Logger)} | {"": logging.root}


def process_state(before=None):
    """All that one module could spoil for the others; loggers that are new since `before` are left out."""
    names = before["loggers"] if before else loggers()
    return {
        # When scikit-learn, which libraries load, is imported, it sets two of these for OpenMP, and for everybody.
        "environment": {name: value for name, value in os.environ.items() if not name.startswith("KMP_")},
        "folder": os.getcwd(),
        "files": sorted(str(path) for path in Path().rglob("*")),
        "numpy generator": str(np.random.get_state()[1].tolist()),  # noqa: NPY002
        "python generator": str(random.getstate()),
        "numpy errors": np.geterr(),
        "warnings": [str(entry) for entry in warnings.filters],
        "loggers": {name: describe(logger) for name, logger in loggers().items() if name in names},
        "logging disabled below": logging.root.manager.disable,
        "signals": {str(number): str(signal.getsignal(number)) for number in (signal.SIGALRM, signal.SIGINT)},
        "locale": locale.setlocale(locale.LC_ALL),
        "excepthook": sys.excepthook is sys.__excepthook__,
        "threads": sorted(thread.name for thread in threading.enumerate() if not thread.daemon),
        "torch": conformance.torch_state(),
        "pools": {pool["filepath"]: pool["num_threads"] for pool in threadpoolctl.threadpool_info()},
    }


def describe(logger):
    return [logger.level, [str(handler) for handler in logger.handlers], logger.propagate, logger.disabled]


def loud(before):
    """Loggers that were made meanwhile and would print."""
    return [
        name
        for name, logger in loggers().items()
        if name not in before["loggers"]
        and any(isinstance(handler, logging.StreamHandler) for handler in logger.handlers)
    ]


def main(name, *modules):
    for module in modules:
        importlib.import_module(module)
    before = process_state()
    method = conformance.make(name, PROBLEM, seed=2**62 + 7)
    trials = [
        conformance.step(method, lambda trial: conformance.measure(PROBLEM, trial))
        for _ in range(conformance.length(name, N))
    ]
    after = process_state(before)
    pools = before.pop("pools")
    if before["torch"] is None:  # what was not loaded had no state
        del before["torch"]
    changed = [key for key in before if before[key] != after[key]]
    # Libraries bring pools of threads of their own; those that were there must be as they were.
    changed += [path for path, threads in pools.items() if after["pools"].get(path) != threads]
    changed += loud(before)
    print(json.dumps({"trials": [[x.number, x.config, x.heavy, x.budget] for x in trials], "changed": changed}))


def serve():
    gc.freeze()  # what a process does not touch it need not copy
    for line in sys.stdin:
        name, folder, *modules = json.loads(line)
        child = os.fork()
        if child == 0:
            os.chdir(folder)
            for path, stream in (("../out.json", 1), ("../err.txt", 2)):
                os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), stream)
            faulthandler.dump_traceback_later(LIMIT, exit=True)
            main(name, *modules)
            return
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    serve()
