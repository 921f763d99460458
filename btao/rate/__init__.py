"""The rate rule: what is trained next, and how long, by improvement per cost (METHOD items 19-28, 30).

    z         a value, its logarithm where values are errors, standardized over both levels (`outputs`)
    light     z_l = constant + process + noise (`process`)
    heavy     z_h = b0 + rho (z_l - mean) + process + noise (`two_level`)
    gain      expected improvement of the best heavy z, given a light one or before it is known (`improvement`)
    rate      gain over what the runs cost that it takes (`improvement`, `costs`), and its slopes (`new_points`)
    inflation multiplies standard deviations of heavy z where no run promises a gain (`stagnation`)

`btao.rules.rate` chooses by these rates.
"""
