"""`python -m benchmarks.profile task=currin`: how accurately BTAO's model and others predict the heavy response."""

from __future__ import annotations

import sys

from benchmarks.console.command import CommandFailed, command
from benchmarks.studies.model_accuracy import portable_study, read_arguments
from btao.running.files import replacing

HELP = """\
usage: python -m benchmarks.profile task=NAME [OPTION=VALUE ...]

Makes runs of btao_joint and GP-BO, fits models to them after each heavy run and compares what they predict
with the true heavy response on a test design that is the same for all of them: the center and the
corners of the space, then a scrambled Sobol sequence. With a recorded table it is a random quarter of
its configurations (30 if that is more, but no more than half), which the runs do not get: they
replay the table without them, so neither level of these configurations was seen. Writes one row a
model, seed and heavy run:

  task, data (of a recorded table), model (tam: truncated; koh: Kennedy-O'Hagan, without bounds; gp: of
  heavy runs only), runs (own: those of the method with that model; common: those of btao_joint,
  for all three), seed, heavy_runs, n (points predicted), rmse, coverage (of the 95% band), width (of the band),
  log_score (mean log density of the true response, larger is better)

options (with their defaults)
  task=NAME                   a task with a known truth, or any one that has a table, with source=table
  out=profile.parquet         the file to write, .parquet or .csv
  seeds=10                    10: the seeds 0 to 9; [3,7]: these two
  points=512                  of the test design; none with a table
  scale=laptop  budget.heavy=  source=live  table=  task.parameters.NAME=VALUE
                              as `python -m benchmarks.run --help` says
  -h, --help                  this text

The same command gives the same file (one thread computes it).
"""


@command(lambda _: HELP)
def main(arguments: list[str]) -> int:
    """Do what the arguments say (those of the process by default); the exit status."""
    out, points, rest = read_arguments(arguments)
    table = portable_study(rest, points)
    try:
        with replacing(out) as temporary:
            write = table.to_csv if out.suffix == ".csv" else table.to_parquet
            write(temporary, index=False)
    except OSError as error:
        raise CommandFailed(f"{out}: {error.strerror}") from error
    print(f"{len(table)} rows: {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
