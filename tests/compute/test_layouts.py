"""Loops see arrays in one layout: for each further one they are compiled anew, for seconds."""

from dataclasses import replace

import numpy as np
from numba.core.dispatcher import Dispatcher

import manymaps as mm
from manymaps.compute import attraction, mixture, strongest


def compiled_for():
    return {
        name: set(value.signatures)
        for module in (attraction, mixture, strongest)
        for name, value in vars(module).items()
        if isinstance(value, Dispatcher)
    }


def work_with(start):
    mm.MultipleMapsTSNE(n_maps=2, max_iter=3, init=start).fit(start.vectors)
    mm.insert(start, start.vectors[:1] + 0.1, labels=["new"])
    start.captions()


def test_a_start_in_another_order_asks_for_no_other_loops():
    vectors = np.random.default_rng(0).normal(size=(40, 3))
    fit = mm.MultipleMapsTSNE(n_maps=2, perplexity=5, max_iter=3, random_state=0).fit(vectors)
    work_with(fit.atlas_)
    known = compiled_for()
    assert all(known[name] for name in ("attraction", "gradients", "log_normalizers"))
    turned = replace(fit.atlas_, proportions=np.asfortranarray(fit.proportions_))
    assert not turned.proportions.flags.c_contiguous
    work_with(turned)
    assert compiled_for() == known
