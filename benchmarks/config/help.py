"""What `python -m benchmarks.run --help` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.config.options import text
from benchmarks.config.registry import listing, task_listing
from benchmarks.config.request import more_of

OPTIONS = """\
usage: python -m benchmarks.run task=NAME [OPTION=VALUE ...] [-m]

Runs every chosen method with every seed on one task, then prints a table and draws a figure of
the runs that finished: `n seeds` says how many of those asked for. What failed is listed after it.
The same command again continues what is unfinished and skips what is done.

options (with their defaults)
  task=NAME                     the task; +task=NAME is the same
  method=[random_search,tpe,gp_bo,smac,smac_gp,bohb,hyperband,btao]
                                one method or a list, shown in this order
  seeds=10                      10: the seeds 0 to 9; [3,7]: these two
  scale=laptop                  smoke, laptop or paper: the size of the task and its budget
  budget.heavy=                 stop after so many heavy runs,
  budget.iterations=              training iterations, light and heavy together,
  budget.seconds=                 seconds of training and method's own time,
  budget.train_seconds=           or seconds of training alone, whichever ends first.
                                  Without any of them the scale's budget holds;
                                  with one or more, only those given
  shared_init=false             true: all model-based methods start from the same configurations
                                for the same seed, for a paired comparison
  cache=false                   true: trainings are kept in the folder of the records, and answer other methods that
                                ask for the same, at the cost that was measured first
  source=live                   live trains; table replays recorded training (`benchmarks.record`), with
                                its seconds, in milliseconds
  table=                        the table, by its name in results/tables or its path, where there
                                are several of the task at one scale; without scale=, the largest
  conf=                         a folder of your own tasks and methods, task/NAME.yaml and method/NAME.yaml,
                                beside those of the suite and of installed packages
  data=auto                     auto, mnist or cifar10: auto may fall back on a smaller real
                                data set and says so, the other two fail instead
  data_dir=                     a folder with the data sets, looked into first
  engine=local                  local: processes of this machine; dask: a Dask cluster
  engine.address=               the scheduler of a Dask cluster (tcp://host:port) whose workers see the
                                folder of the records; without it dask starts one of this machine's
  jobs=2                        experiments run at the same time, each in a process of its own; in a
                                cluster that exists, as many as its workers have threads
  threads=1                     threads of linear algebra for each experiment, however many cores there
                                are: they can change the last digits of a table
  out=results/runs              the folder of the records
  display=auto                  live or plain; auto: live in a terminal, else plain
  rerun=none                    none; changed, failed or all: these runs of the command are made anew
                                (changed: those whose code was another; failed: those that ended
                                with an error), and the old ones kept in OUT/aside
  methods.NAME.PARAMETER=VALUE  a parameter of a chosen method
  task.parameters.NAME=VALUE    a parameter of the task
  -m, --multirun                every combination of comma-separated values, one after another
  -h, --help                    this text
"""
EXAMPLES = """\
examples
  python -m benchmarks.run task=currin
  python -m benchmarks.run task=toy method=[btao,gp_bo] seeds=[3,7] budget.heavy=12
  python -m benchmarks.run task=currin methods.btao.n_init=8 jobs=4
  python -m benchmarks.run -m task=toy,currin,park scale=smoke
"""


def help_text(arguments: Sequence[str] = ()) -> str:
    """Usage, options, tasks, methods with their parameters, and examples.

    Those of the folder `conf=`, where the arguments name one, are among them; UsageError if there is none.
    """
    with more_of(arguments):
        methods = listing("method", _parameters)
        return "\n".join([OPTIONS, f"tasks\n{task_listing()}", f"methods, with their parameters\n{methods}", EXAMPLES])


def _parameters(method: Mapping[str, Any]) -> str:
    """The parameters of a method with their defaults."""
    return " ".join(f"{key}={text(value)}" for key, value in method.items() if key != "_target_")
