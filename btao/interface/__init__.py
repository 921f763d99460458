"""What lies between the users of `BTAO` and its rules.

`telling`, `showing` and `saving` hold the methods of `BTAO` but for `ask`, and `parts` the attributes that they share.
`arguments` reads the name of its rule, `direction` is the sense of values, `warm_start` holds results made elsewhere,
`enqueued` configurations to try first, `state` the state as text, and `lock` what threads wait for.
"""
