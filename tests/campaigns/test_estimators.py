"""Every estimator on data at the edge of what can be fitted.

A fit must end in finite results, or in an error of ours. It warns only of data and convergence,
leaves its data and the global random state unchanged, and gives the same bits when repeated.
"""

import inspect
import pickle
import re
import warnings

import numpy as np
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import manymaps as mm
from manymaps.affinity import GlobalGaussian, LocalPerplexity
from manymaps.cooccurrence.semidefinite import SolverError
from manymaps.optimizers import LBFGS, ConjugateGradient, Momentum

REFUSALS = (mm.DataError, mm.ParameterError, SolverError)
EXPECTED = (mm.DataWarning, ConvergenceWarning)
# Messages of NumPy, SciPy and Python that should not reach a user.
INTERNAL = re.compile(r"zero-size|no attribute|unsupported operand|NoneType|out of bounds|ufunc")
N = 10


def points(rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=(N, 3))


def similarities(rng: np.random.Generator) -> np.ndarray:
    table = rng.random((N, N))
    np.fill_diagonal(table, 0)
    return table + table.T


def counts(rng: np.random.Generator) -> np.ndarray:
    return rng.poisson(1.5, (N, 8)).astype(float)


def changed(at, value):
    def change(table, rng):
        table[at] = value
        return table

    return change


def scaled(factor):
    return lambda table, rng: table * factor


# Changes of a table of any kind.
FAULTS = {
    "none": lambda table, rng: table,
    "times 1e18": scaled(1e18), "times 1e155": scaled(1e155), "times 1e300": scaled(1e300),
    "times 1e-40": scaled(1e-40), "times 1e-300": scaled(1e-300),
    "outlier": changed((-1, 0), 1e18), "huge outlier": changed((-1, 0), 1e300),
    "NaN": changed((2, 1), np.nan), "row of NaN": changed(2, np.nan),
    "infinity": changed((2, 1), np.inf), "minus infinity": changed((2, 1), -np.inf),
    "negative": changed((2, 1), -0.5), "zeros": changed(..., 0.0), "ones": changed(..., 1.0),
    "row of zeros": changed(3, 0.0), "two rows of zeros": changed(slice(3, 5), 0.0),
    "equal rows": lambda table, rng: np.repeat(table[::2], 2, axis=0),
    "all rows equal": lambda table, rng: np.repeat(table[:1], N, axis=0),
    "constant column": changed((slice(None), 0), 1.0),
    "diagonal": lambda table, rng: np.eye(N), "one pair": lambda table, rng: np.eye(N, k=N - 1),
    "ring": lambda table, rng: np.eye(N, k=1) + np.eye(N, k=1 - N),
    "gaps": lambda table, rng: np.where(rng.random(table.shape) < 0.2, np.nan, table),
    "pieces": lambda table, rng: table * (np.arange(len(table)) % 2)[:, None],
    "no rows": lambda table, rng: table[:0], "no columns": lambda table, rng: table[:, :0],
    "one object": lambda table, rng: table[:1, :1], "two": lambda table, rng: table[:2, :2],
    "three": lambda table, rng: table[:3, :3], "one column": lambda table, rng: table[:, :1],
    "1-D": lambda table, rng: table[0], "3-D": lambda table, rng: table[None],
}  # fmt: skip


def unsorted(table: np.ndarray) -> sparse.csr_array:
    """CSR with the columns of each row in reverse order, including zeros."""
    n, width = table.shape
    indices = np.tile(np.arange(width)[::-1], n)
    starts = np.arange(0, n * width + 1, max(width, 1))[: n + 1]
    return sparse.csr_array((table[:, ::-1].ravel(), indices, starts), shape=table.shape)


FORMS = {
    "float64": lambda table: table, "list": lambda table: table.tolist(),
    "float32": lambda table: table.astype(np.float32), "big-endian": lambda t: t.astype(">f8"),
    "integers": lambda t: np.nan_to_num(4 * t, posinf=0, neginf=0).clip(0, 99).astype(int),
    "object": lambda table: table.astype(object), "text": lambda table: table.astype(str),
    "Fortran": np.asfortranarray, "strided": lambda t: np.repeat(t, 2, axis=-1)[..., ::2],
    "csr": sparse.csr_array, "coo": sparse.coo_matrix, "lil": sparse.lil_array,
    "unsorted csr": unsorted,
}  # fmt: skip

RUN = {
    "n_components": [2, 1, 3], "max_iter": [40, 1, 2], "tolerance": [5e-3, 0.0], "n_init": [1, 2],
    "optimizer": [None, Momentum(learning_rate=1e-12), Momentum(learning_rate=1e6), LBFGS(),
                  Momentum.van_der_maaten_2009(), Momentum.van_der_maaten_2012(),
                  ConjugateGradient()],
    "n_maps": [2, 1, 3], "mixing": ["learned", "fixed"], "background": [0.0, 0.2, 1 - 1e-9],
    "penalty": [0.001, 0.0, 1e6, 1e30], "kernel_width": [1.0, 1e-6, 1e15],
    "normalization": ["conditional", "joint"], "learning_rate": ["auto", 1e-9, 1e9],
    "early_exaggeration": [12.0, 1.0, 1e6], "late_exaggeration": [1.0, 4.0],
    "init": ["auto", "random"], "marginals": [False, True], "given": ["rows", "columns"],
    "n_clusters": [2, 1, 4], "solver": [None, "gibbs", "annealing"], "polish": [True, False],
    "constant": ["free", "nonnegative", False], "trace_penalty": [0.1, 0.0],
    "form": ["conditional", "joint"], "distillation": [0, None], "bias_penalty": [0.5, None],
}  # fmt: skip
VECTORS = {"perplexity": [2, 1, 5, (2, 3), 1e6], "metric": ["euclidean", "cosine", "hamming"],
           "affinity": ["auto", GlobalGaussian(2), LocalPerplexity(2)]}  # fmt: skip
DISTANCES = {"metric": ["precomputed"], "perplexity": [2]}
SIMILAR = {"affinity": ["precomputed"]}
MAPS = (mm.TSNE, mm.SNE, mm.SymmetricSNE, mm.UniSNE, mm.MultipleMapsTSNE, mm.MultipleMapsSNE,
        mm.AspectMaps)  # fmt: skip
# Each estimator with a table of its data and settings that this table needs.
SUBJECTS = [
    *((cls, points, VECTORS) for cls in MAPS),
    *((cls, lambda rng: cdist(*[points(rng)] * 2), DISTANCES) for cls in MAPS),
    *((cls, similarities, SIMILAR) for cls in MAPS),
    (mm.AdditiveClustering, similarities, {}), (mm.AssociationPredictor, similarities, {}),
    (mm.CODE, counts, {}), (mm.SemidefiniteCODE, counts, {}),
]  # fmt: skip


def contents(X) -> bytes:
    """The bytes of a table and of its parts, to see whether it was changed."""
    if not sparse.issparse(X):
        return pickle.dumps(X)
    names = ("data", "indices", "indptr", "row", "col", "rows")  # and no flags that SciPy caches
    return pickle.dumps([np.asarray(getattr(X, name)) for name in names if hasattr(X, name)])


def numbers(fitted) -> dict[str, np.ndarray]:
    """The numbers of a fitted estimator and of its atlas."""
    found = {name: value for name, value in vars(fitted).items()
             if name.endswith("_") and isinstance(value, np.ndarray | float | int)}  # fmt: skip
    atlas = getattr(fitted, "atlas_", None)
    if atlas is not None:
        found |= {"maps_": atlas.maps, "proportions_": atlas.proportions, **atlas.history}
    return {name: np.asarray(found[name], float) for name in sorted(found)}


def state(fitted) -> bytes:
    return b"".join(value.tobytes() for value in numbers(fitted).values())


def check(fitted, X) -> None:
    """All results are finite; proportions sum to 1; a copy is equal."""
    for name, value in numbers(fitted).items():
        assert np.isfinite(value).all(), name
    if isinstance(fitted, MAPS):
        np.testing.assert_allclose(fitted.proportions_.sum(axis=0), 1, atol=1e-5)
        assert fitted.kl_divergence_ >= -1e-4
        assert np.isfinite(fitted.atlas_.similarities(fitted.atlas_.labels[0])).all()
        places = fitted.maps_.transpose(1, 0, 2).reshape(len(fitted.maps_[0]), -1)
        if hasattr(fitted, "transform") and fitted.affinity != "precomputed":
            with warnings.catch_warnings(action="ignore"):
                try:
                    again = fitted.transform(X)
                except REFUSALS:
                    again = places
            assert np.array_equal(again, places)
    assert state(pickle.loads(pickle.dumps(fitted))) == state(fitted)
    clone(fitted)


# Without the phase that simplifies a failed case, which would repeat slow fits for minutes.
@settings(max_examples=150, derandomize=True, phases=[Phase.generate])
@given(st.sampled_from(range(len(SUBJECTS))), st.sampled_from(sorted(FAULTS)),
       st.sampled_from(sorted(FORMS)), st.integers(0, 99), st.data())  # fmt: skip
def test_a_fit_is_finite_or_refused(subject, fault, form, seed, data):
    cls, make, needed = SUBJECTS[subject]
    rng = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        X = FAULTS[fault](make(rng), rng)
        if X.ndim == 2 or not form.endswith(("csr", "coo", "lil")):
            X = FORMS[form](X)
    known = inspect.signature(cls.__init__).parameters
    choices = {name: values for name, values in {**RUN, **needed}.items() if name in known}
    # Usual values are drawn more often, so that a case has few unusual ones.
    arguments = {name: data.draw(st.sampled_from([values[0]] * 4 + values), label=name)
                 for name, values in choices.items()}  # fmt: skip
    if "random_state" in known:
        arguments["random_state"] = seed
    before = contents(X)
    np.random.seed(7)  # noqa: NPY002
    results, refused = [], []
    for _ in range(2):
        model = cls(**arguments)
        with warnings.catch_warnings(record=True, action="always") as seen:
            try:
                results.append(model.fit(X))
            except REFUSALS as error:
                refused.append(str(error))
        assert [one for one in seen if not issubclass(one.category, EXPECTED)] == []
    for message in refused:
        assert len(message.split()) > 3
        assert not INTERNAL.search(message), message
    assert contents(X) == before
    assert np.random.randint(10**6) == np.random.RandomState(7).randint(10**6)  # noqa: NPY002
    if results:
        assert state(results[0]) == state(results[1])
        check(results[0], X)


def test_every_public_estimator_is_a_subject():
    fitted = {name for name in mm.__all__ if hasattr(getattr(mm, name), "fit")}
    assert fitted <= {cls.__name__ for cls, _, _ in SUBJECTS}
