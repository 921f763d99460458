"""The tasks: a space, a light and a heavy level and an evaluation, as `protocol` defines them.

`toy`, `currin`, `park` and those in `functions` are functions (`synthetic`); `svm`, `fcn` and `cnn` train on images
(`image_task`), and those in `sklearn_models` on what packages carry.
`curve` continues training curves, `network_task`, `networks` and `tensorflow_session` are what the two networks share,
and `one_against_one` gives the answers of the support vector machine.
"""
