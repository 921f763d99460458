"""From checked requests to recorded runs, or to a recorded table.

`plan` makes experiments of a request, or `recording` those of a table; `experiment` is the loop of one run, within a
`budget` and by the `contract` of methods and tasks, on measurements of a `source`, by `continuation` where training
goes on and from a `cache` where it was made; a `forecast` says whether the budget lasts for a heavy run. `local` hands
experiments to processes (`worker` seen from the parent, `worker_process` from inside), `dask` and `dask_task` to those
of a cluster, and `progress` is what these tell.
"""
