"""Changes that must not change a fit: form, labels, scale and order of the data, and threads."""

import subprocess
import sys
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import manymaps as mm
from manymaps.compute.threads import threads

MODELS = (mm.TSNE, mm.SNE, mm.SymmetricSNE, mm.UniSNE, mm.MultipleMapsTSNE, mm.MultipleMapsSNE)
AGAIN = """
import sys
import numpy as np
import manymaps as mm
fitted = getattr(mm, sys.argv[2])(**eval(sys.argv[3])).fit(np.load(sys.argv[1]))
sys.stdout.buffer.write(fitted.maps_.tobytes() + fitted.proportions_.tobytes())
"""


@st.composite
def cases(draw):
    """A model, its arguments, and a table of whole strengths in which each row has one."""
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    model = draw(st.sampled_from(MODELS))
    arguments = {
        "affinity": "precomputed", "random_state": draw(st.integers(0, 99)),
        "max_iter": draw(st.integers(5, 60)),
    }  # fmt: skip
    if model in (mm.MultipleMapsTSNE, mm.MultipleMapsSNE):
        arguments |= {
            "n_maps": draw(st.integers(1, 3)),
            "penalty": draw(st.sampled_from([0, 0.01])),
        }
    n = draw(st.integers(8, 50))
    table = rng.integers(1, 9, (n, n)) * (rng.random((n, n)) < rng.uniform(0.1, 0.6))
    table[np.arange(n), (np.arange(n) + 1) % n] += 1
    np.fill_diagonal(table, 0)
    return model, arguments, (table + table.T).astype(float), rng


def bits(fitted) -> bytes:
    return fitted.maps_.tobytes() + fitted.proportions_.tobytes()


@settings(max_examples=20, derandomize=True)
@given(cases())
def test_form_labels_scale_and_threads_do_not_change_a_bit(case):
    model, arguments, table, rng = case
    n, kept = len(table), table.copy()
    expected = bits(model(**arguments).fit(table))
    labels = ["\N{GREEK SMALL LETTER ALPHA}" * (i + 1) for i in rng.permutation(n)]
    forms = {
        "again": table, "float32": table.astype(np.float32), "int16": table.astype(np.int16),
        "Fortran": np.asfortranarray(table), "list": table.tolist(),
        "strided": np.repeat(table, 2, axis=1)[:, ::2],
        "scaled": table * 2.0 ** rng.integers(-8, 9), "matrix": sparse.csr_matrix(table),
        "sparse": sparse.csr_array(table).asformat(rng.choice(["csr", "csc", "coo", "lil", "dok"])),
        "labels": mm.Associations(labels, sparse.csr_array(table)),
    }  # fmt: skip
    for name in ("again", *rng.choice(list(forms), 2)):
        assert bits(model(**arguments).fit(forms[name])) == expected, name
    assert np.array_equal(table, kept)
    # So few objects would be left to one thread.
    with threads(2), patch("manymaps.optimizers.loop._FEW_PAIRS", 0):
        assert bits(model(**arguments).fit(table)) == expected


@settings(max_examples=20, derandomize=True)
@given(cases())
def test_the_order_of_objects_changes_only_the_rounding(case):
    """A few exact steps of one map from given positions: rounding has no time to grow.

    SNE adds jitter to all positions, and the proportions of several maps start at random.
    """
    model, arguments, table, rng = case
    model = mm.TSNE if model in (mm.SNE, mm.SymmetricSNE, mm.UniSNE) else model
    places = rng.normal(0, 0.1, (len(table), 2)).astype(np.float32)
    arguments |= {"max_iter": 4, "tolerance": 0}
    if "n_maps" in arguments:
        arguments["n_maps"], places = 1, places[None]
    order = rng.permutation(len(table))
    one = model(**arguments, init=places).fit(table)
    other = model(**arguments, init=places[..., order, :]).fit(table[np.ix_(order, order)])
    for a, b in ((one.maps_, other.maps_), (one.proportions_, other.proportions_)):
        np.testing.assert_allclose(a[:, order], b, atol=1e-3 * np.abs(a).max())


@pytest.mark.slow
@settings(max_examples=3, derandomize=True)
@given(cases())
def test_processes_give_the_same_bits(tmp_path_factory, case):
    model, arguments, table, _ = case
    model(**arguments).fit(table)  # so that the processes compile nothing
    path = tmp_path_factory.mktemp("table") / "table.npy"
    np.save(path, table)
    command = [sys.executable, "-c", AGAIN, str(path), model.__name__, repr(arguments)]
    one, other = (subprocess.run(command, capture_output=True, check=True) for _ in range(2))
    assert one.stdout == other.stdout
