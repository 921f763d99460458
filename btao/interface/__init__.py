"""What lies between the users of `BTAO` and its rules.

`direction` is the sense of values, `warm_start` holds results made elsewhere, `enqueued` configurations to try first,
`state` the state as text, and `lock` what threads wait for.
"""
