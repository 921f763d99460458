"""The task of the fully connected network without TensorFlow: what is around a training costs nothing."""

from __future__ import annotations

import math
import time

import numpy as np

from benchmarks.objectives.curve import Iteration
from benchmarks.objectives.fcn import FCN

SECONDS = 0.001  # an iteration, on the processor


class QuickFCN(FCN):
    """Its space, its levels and its images, and errors by a formula."""

    def prepare(self):
        pass

    def start(self, config, seed):
        return Decay(config)


class Decay:
    """The slower, the smaller the learning rate; worse by the number of units."""

    def __init__(self, config):
        self.rate = -1 / math.log10(config["learning_rate"])
        self.rest = config["units"] / 2000
        self.done = 0

    def advance(self):
        started = time.process_time()
        while time.process_time() - started < SECONDS:
            pass
        self.done += 1
        error = self.rest + (0.9 - self.rest) * (1 - self.rate) ** self.done
        return Iteration(error, error / 2)

    def state(self):
        return {"done": np.array(self.done)}

    def restore(self, state):
        self.done = int(state["done"])
