"""What a terminal shows: progress while experiments run, tables and failures at the end (`summary`).

`display` opens what shows progress: the `board`, or plain lines; in a `notebook` it is a cell's output. `command` is
what every command does around its work.
"""
