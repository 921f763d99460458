"""What `minimize` is made of.

`objectives` are the two functions, `run` the trials that they make, `workers` where several run at a time,
`interrupts` what Ctrl-C waits for, `light_results` what heavy runs go on from, `state_file` the file that keeps all,
and `files` how files are replaced.
"""
