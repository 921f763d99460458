"""The benchmark suite: methods run on tasks, every trial recorded, and statistics and figures of the records.

This page is the map. The README says how to use the suite, benchmarks/README.md how to operate it.

Nouns
-----
task        What is tuned: a search space, a light and a heavy level, and an evaluation. A class of `objectives` and a
            file of conf/task.
method      What proposes trials: a class of the package `baselines` and a file of conf/method.
experiment  One method on one task with one seed, as data (`running.experiment.Experiment`); it has a hash.
run         An experiment on disk: out/<task>/<method>-<hash>/seed-<n> (`records.run_folder.RunFolder`).
trial       One proposal: a configuration and the iterations that it is granted (`baselines.protocol.Trial`), and what
            came of it (`records.trials.Row`).
level       How long a trial trains, and what stops it: light or heavy (`btao.training.Level`). The field's word is
            fidelity.
table       Recorded training curves of many configurations, which answer trials in place of training
            (`tables.table.Table`).
study       Many experiments and what they show together (`studies`): a run of plans, the accuracy of models, the
            reference results. As one object of Python: `studies.study.Study`.

The way of one trial
--------------------
From `python -m benchmarks.run task=fcn` to a point of the figure. Names of modules are below `benchmarks`.

    step                            where                                        what goes on to the next step
    read the arguments              config.request.read (Hydra, conf/)           Request
    build and check all             running.plan.plan                            Plan of Experiments, each with Specs
    run the plans                   studies.execution.execute                    Plan, records.command.Command
    share out experiments           running.local.run_all, or running.dask       Experiment, by a pipe or by Dask
    run one in a process            running.worker, running.worker_process       Experiment
    open the run                    running.experiment.run_experiment            RunInfo in run.json, TrialLog
    build task and method           Experiment.build                             Objective, Method (told a Problem)
    propose, within the budget      running.budget.BudgetedMethod.ask            baselines.protocol.Trial
    check, and copy                 running.contract.CheckedMethod               Trial, of the space
    choose the level                running.experiment._level                    btao.training.Level
    measure                         Training of running.source: one of           objectives.protocol.Evaluation
      live                            running.continuation.Continuation
      live, cache=true                running.cache.CachedTraining around it
      source=table                    tables.answers.ExactAnswers (a grid) or NearestAnswers
    check what was measured         running.contract.measured, true_value        Evaluation, in plain values
    write down                      running.experiment._Trials._measure          records.trials.Row
    tell the method                 BudgetedMethod.tell                          baselines.protocol.Measurement
    log                             records.trials.TrialLog.append               one line of trials.jsonl
    charge and remember             Spent.add, Training.remember                 Spent, curves paid for
    tell the terminal               running.worker_process.Reporter              running.progress.Progress, then Ended
    read the runs that are done     studies.execution.trials, records.load       DataFrame, a row a trial
    follow the incumbent            analysis.incumbents.incumbents               DataFrame, the state after each trial
    average over seeds              analysis.aggregate.aggregate                 DataFrame, a step curve a method
    draw                            figures.curves.figure_run, figures.style     figure-<digest>.png, .pdf and .csv

From Python it is the same way: `benchmarks.study.run` turns its keywords into the arguments (studies.keywords), and
`studies.interactive` reads, plans and runs them. A class that cannot be imported goes along as config.code.Code.

A run that was interrupted replays its rows: the same method is asked and told anew, and must ask for the same trials.

What a trial costs
    before it starts   `Training.cost`: the iterations granted, less those that its configuration has paid for. In
                       `Continuation` that is its curve so far; in `tables.answers` what this run was charged for the
                       recorded configuration that answers. A trial that grants no more than one before it is
                       trained and charged again. `BudgetedMethod.ask` refuses one that `budget.iterations` does
                       not cover.
    once it is made    `Evaluation.iterations`, what was really trained. If `evaluate` raises, all of `Training.cost`.
    seconds            `train_seconds` are measured around `evaluate`, less those of the test (`Evaluation.testing`), or
                       are those of the table or of the cache (`Evaluation.seconds`);
                       `method_seconds` are those of ask, tell and recommend; `time` is their sum so far.
    the account        `running.budget.Spent.add` charges a row: heavy runs, iterations (at least 1) and `time`.

Floors
------
A room imports only from floors below its own, wherever in a file the import stands, and nothing runs in a circle.
tests/packaging/test_imports.py enforces it, owns the table of floors and, run as a script, prints the graph.

    floor  room         holds
    1      common       environment of processes, streams, errors, formats of numbers
           data         data sets: where they are, what was published, stand-ins, splits
    2      objectives   tasks, and what tasks share
           config       options, the files of conf/ and additions to them, requests, specs and code of classes
    3      records      rows, run folders, identity, commands, labels, provenance, DataFrames of them
    4      tables       recorded tables, replay, designs
    5      running      plans, experiments, budgets, sources, engines, recording
           analysis     incumbents, curves, intervals, scores, ranks, targets, claims
    6      console      progress and final table in a terminal; what every command does around its work
           figures      style, and each kind of figure
    7      reporting    parts of the report, HTML, Markdown and LaTeX
    8      studies      execution of plans, calls from Python, the object Study, accuracy of models, reference results
    9      (commands)   the modules beside this file: each reads its arguments and calls the rooms; study is for Python

Below all of them are `baselines`, which imports `btao`, and `btao`, which imports neither.

Where to add what
-----------------
A method or a task outside of this repository
    nothing here                            config/additions.py finds it; benchmarks/README.md says how
A method
    baselines/<name>.py                     the class, as `baselines.protocol.Method` says; random_search.py is short
    conf/method/<name>.yaml                 `# @package methods.<name>`, `_target_`, its parameters
    tests/benchmarks/config/test_persisted_names.py   PERSISTED: its name and version
    tests/baselines/test_<name>.py          what is its own; tests/conformance/test_methods.py finds it unasked, but for
                                            EARLY, where it has a long random start
    `model_based=True`                      in the capabilities of what models the response, which then takes a shared
                                            start, by `check_start`; the default is False
    `conditions=True`, `constraint=True`    in the capabilities of what leaves inactive parameters out, by
                                            `Space.assemble`, and asks for allowed configurations only; the default is
                                            False
    `start_size`, `cautions`                attributes of what has a start, or does less with a part
                                            of a problem: before a run they are read, and cautions are shown
    if it wraps a library:                  the class in an IsolatedLibrary (baselines/libraries), an extra in
                                            pyproject.toml, DISTRIBUTIONS in records/provenance.py
    if it is to run by default:             conf/config.yaml, config/help.py; METHOD_STYLES in figures/style.py
A task
    objectives/<name>.py                    the class: `Synthetic` of a formula, `CurveTask` of training that goes on,
                                            `NetworkTask` of a network on images, sklearn_models' `ModelTask`, or any
                                            `protocol.Objective`
    conf/task/<name>.yaml                   `# @package task`, name, description, `_target_`, parameters, scales;
                                            `needs_data: <data set>` if it trains on one of the suite's: its class then
                                            takes data= and data_dir=
    `trains = True`                         in the class of what trains without a data set, and is no `CurveTask`
    tests/benchmarks/config/test_persisted_names.py   PERSISTED: its name and version
    tests/benchmarks/objectives/            what is its own; tests/conformance/test_objectives.py finds it unasked
    if its data set is new:                 DATASETS in data/published.py, CHOICES in config/options.py, config/help.py
A statistic
    over seeds:                             STATISTICS in analysis/intervals.py and its words, STATISTIC_NAMES in
                                            figures/curves.py: `aggregate`, `summary` and figures then take it as
                                            `statistic=`; studies/execution.py and reporting/results.py choose what
                                            commands draw
    of methods on one task or across tasks: a function of DataFrames in analysis/, its table in reporting/
    that judges a claim:                    a function in analysis/checks.py, which claims.yaml names as `check`
A column of the record
    records/trials.py                       a field of Row, None by default: then it is left out where it is not known,
                                            and old records are read as before; its kind in CASTS, its
                                            name in NULLABLE
    running/experiment.py                   `_Trials._measure` fills it, from a field of objectives/protocol.py's
                                            Evaluation if the task knows it, which running/contract.py then checks
    records/frames.py                       COLUMN_TYPES, for `load`
    tests/benchmarks/records/test_records.py   COLUMNS, and the row that `load` gives
    tests/support.py, tests/scripted_runs.py, studies/reference.py   SECONDS and the like, if machines differ in it
A figure
    figures/<name>.py                       a function of a DataFrame: drawn in `style.drawing`, written by `style.save`
    reporting/results.py or ranking.py      `page.Figure.read`, if the report shows it; a notebook, if one does
An option of `benchmarks.run`
    conf/config.yaml                        its default
    config/request.py                       a field of Request, checked in `_request` by a function of config/options.py
    config/help.py                          what --help says; tests/benchmarks/config/test_help.py asks for it
    study.py                                a keyword of the same name
    running/plan.py                         hands it to Experiment (running/experiment.py). If it can change results, it
                                            belongs to `Experiment.identity`, only where it is not the default, so that
                                            runs on record keep their hashes
    record.py, studies/model_accuracy.py    RUN_ONLY, if it has no effect there
An option of another command
    <command>.py                            HELP and OPTIONS; of `record` and `profile`, their call of `own_options`
A command
    <command>.py                            HELP and `main`, made by console/command.py; at most 150 lines, which import
                                            no other command
An engine
    running/<name>.py                       `run_all` as that of running/local.py
    config/options.py, studies/execution.py CHOICES["engine"]; `run_plan` chooses it
"""
