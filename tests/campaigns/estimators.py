"""Every estimator and public function on data at the edge of what can be fitted.

A case draws one of them, settings, a table of `degenerate` and a way to hold it; `case(seed,
number)` makes it again. It must end in results that are finite, or in a `DataError` or
`ParameterError` that says what is wrong, and

* warn of nothing but what `DataWarning` and `ConvergenceWarning` say,
* leave what it was given as it was, bytes and structure,
* leave Python's and NumPy's global random states alone, but for one draw from NumPy's where
  `random_state` is None,
* do the same again when it is called again, bit by bit,
* leave an estimator that can be copied, cloned and printed.
"""

from __future__ import annotations

import inspect
import pickle
import random
import re
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import manymaps as mm
from campaigns import degenerate
from campaigns.degenerate import COUNTS, HOLDINGS, SIMILARITIES, VECTORS, contents, hold
from campaigns.outcome import Finding, Outcome
from campaigns.worker import ProcessLost, Worker
from manymaps import metrics
from manymaps.affinity import GaussianAffinity, GlobalGaussian, LocalPerplexity, nearest_neighbors
from manymaps.affinity.neighbors import NeighborSearch
from manymaps.clustering.solvers import GibbsEM
from manymaps.cooccurrence.semidefinite import SolverError
from manymaps.model import ChoiceModel
from manymaps.optimizers import LBFGS, ConjugateGradient, Momentum
from manymaps.optimizers.rows import RowDescent

__all__ = ["SUBJECTS", "Drawn", "Subject", "case", "drawn", "run"]

_REFUSALS = (mm.DataError, mm.ParameterError, SolverError)
_LONGEST = 300.0
_TOLD = (mm.DataWarning, ConvergenceWarning)
# Words of NumPy, SciPy and Python about their own insides.
_INSIDES = re.compile(
    r"zero-size|has no attribute|unsupported operand|NoneType|out of bounds|ingular|"
    r"did not converge|must not contain|not subscriptable|missing \d+ required|broadcast|ufunc"
)


@dataclass(frozen=True)
class Subject:
    """What cases are made of.

    Parameters
    ----------
    make : callable
        An estimator's class, or a function of data.
    data : dict of str to callable
        Its tables.
    settings : dict of str to list
        Values to draw from; the first is the usual one.
    prepare : callable
        Makes of a table what is held: distances of points.
    numbers : tuple of str
        Attributes of a fitted estimator that must be finite.
    """

    make: Callable[..., Any]
    data: dict[str, Any]
    settings: dict[str, list[Any]] = field(default_factory=dict)
    prepare: Callable[[np.ndarray], np.ndarray] = lambda table: table
    numbers: tuple[str, ...] = ()

    @property
    def is_estimator(self) -> bool:
        """Whether it is fitted, and not called."""
        return inspect.isclass(self.make)

    @property
    def draws_nothing(self) -> bool:
        """Whether it takes no random state but among its settings."""
        fit = self.make.fit if self.is_estimator else self.make
        return "random_state" not in inspect.signature(fit).parameters


_MOMENTA = [
    Momentum(), Momentum(learning_rate=1e-12), Momentum(learning_rate=1.0),
    Momentum(learning_rate=30.0), Momentum(learning_rate=1e6),
    Momentum(learning_rate=1e30), Momentum.van_der_maaten_2009(),
    Momentum.van_der_maaten_2012(), LBFGS(), ConjugateGradient(),
]  # fmt: skip
_SEEDS = [0, None, np.random.RandomState(3)]
_RUN: dict[str, list[Any]] = {
    "n_components": [2, 1, 3], "max_iter": [60, 1, 2, 160], "optimizer": [None, *_MOMENTA],
    "tolerance": [5e-3, 0.0, 0.1], "random_state": _SEEDS, "n_init": [1, 2],
}  # fmt: skip
_NEIGHBORHOODS: dict[str, list[Any]] = {
    "perplexity": [2, 1, 1.5, 5, (2, 3), 1e-6, 1e6],
    "metric": ["euclidean", "sqeuclidean", "cosine", "correlation", "manhattan", "chebyshev",
               "hamming", "jaccard"],
    "neighbors": [None, NeighborSearch("exact"), NeighborSearch("faiss")],
    "affinity": ["auto", GaussianAffinity(2), GlobalGaussian(2), GlobalGaussian(sigma=1),
                 LocalPerplexity(2)],
}  # fmt: skip
_STARTS = ["auto", "random", "pca", "mds"]
_MANY: dict[str, list[Any]] = {
    "n_maps": [2, 1, 3],
    "normalization": ["conditional", "joint"],
    "mixing": ["learned", "fixed"],
    "background": [0.0, 0.2, 1 - 1e-9],
    "penalty": [0.001, 0.0, 1.0, 1e6, 1e30],
    "kernel_width": [1.0, 1e-6, 1e-3, 1e3, 1e6, 1e-15, 1e15],
    "init": ["auto", "random", "personas"],
}
_MAPS = ("maps_", "proportions_", "kl_divergence_", "history_", "n_iter_")


def _map_estimators() -> dict[str, Subject]:
    """Each estimator of maps on vectors, on distances and on similarities."""
    found = {}
    for cls in (mm.TSNE, mm.SNE, mm.SymmetricSNE, mm.UniSNE, mm.MultipleMapsTSNE,
                mm.MultipleMapsSNE, mm.AspectMaps):  # fmt: skip
        known = inspect.signature(cls.__init__).parameters
        many = _MANY if "n_maps" in known else {"init": _STARTS}
        own = {"learning_rate": ["auto", 1e-9, 1e9], "early_exaggeration": [12.0, 1.0, 1e6],
               "late_exaggeration": [1.0, 4.0], "background": [0.2, 0.0, 1 - 1e-9]}  # fmt: skip
        settings = {k: v for k, v in {**own, **_RUN, **many}.items() if k in known}
        whole = {**settings, **_NEIGHBORHOODS}
        given = {"metric": ["precomputed"], "perplexity": [2, 1, 5],
                 "affinity": _NEIGHBORHOODS["affinity"]}  # fmt: skip
        similar = {"affinity": ["precomputed"]}
        name = cls.__name__
        found[name] = Subject(cls, VECTORS, whole, numbers=_MAPS)
        found[f"{name} of distances"] = Subject(
            cls, VECTORS, {**settings, **given}, degenerate.distances, _MAPS
        )
        found[f"{name} of similarities"] = Subject(
            cls, SIMILARITIES, {**settings, **similar}, numbers=_MAPS
        )
    return found


def _other_estimators() -> dict[str, Subject]:
    clusters = {
        "n_clusters": [2, 1, 4],
        "solver": [None, "gibbs", GibbsEM(n_recorded=5), "annealing"],
        "polish": [True, False],
        "constant": ["free", "nonnegative", False],
        "n_init": [1, 2],
        "kind": ["similarity", "dissimilarity"],
        "strict": [False, True],
        "random_state": _SEEDS,
    }
    code = {
        **_RUN,
        "max_iter": [40, 1],
        "normalization": ["conditional", "joint"],
        "given": ["rows", "columns"],
        "marginals": [True, False],
        "n_maps": [1, 2, 3],
        "penalty": [0.01, 0.0, 1.0, 1e6],
        "init": ["auto", "ca", "random"],
    }
    predictor = {
        "n_maps": [1, 2],
        "n_components": [2, 1, 3],
        "kernel": ["gaussian", "cauchy"],
        "init": [None, "spectral", "charts", "random"],
        "distillation": [0, None],
        "penalty": [0.1, 0.0, 1e6],
        "bias_penalty": [0.5, None, 0.0],
        "optimizer": [None, RowDescent(learning_rate=1e6), *_MOMENTA],
        "max_iter": [5, 1],
        "random_state": [0, None],
    }
    program = {
        "n_components": [2, 1],
        "form": ["conditional", "joint"],
        "marginals": [True, False],
        "trace_penalty": [0.1, 0.0],
    }
    many = ("memberships_", "membership_probabilities_", "weights_", "constant_", "history_",
            "variance_accounted_for_", "residual_variance_", "solutions_")  # fmt: skip
    sides = ("row_embedding_", "column_embedding_", "log_likelihood_")
    return {
        "AdditiveClustering": Subject(mm.AdditiveClustering, SIMILARITIES, clusters, numbers=many),
        "CODE": Subject(mm.CODE, COUNTS, code, numbers=(*_MAPS, *sides)),
        "SemidefiniteCODE": Subject(
            mm.SemidefiniteCODE, COUNTS, program, numbers=("gram_", *sides)
        ),
        "AssociationPredictor": Subject(
            mm.AssociationPredictor, SIMILARITIES, predictor, numbers=("history_", "n_iter_")
        ),
    }


def _atlas(n: int = 10) -> mm.Atlas:
    """Maps to compare data with."""
    rng = np.random.default_rng(5)
    shares = rng.dirichlet(np.ones(2), n).T.astype(np.float32)
    return mm.Atlas(
        labels=tuple(f"object {i}" for i in range(n)),
        maps=rng.normal(size=(2, n, 2)).astype(np.float32),
        proportions=shares,
        model=ChoiceModel("cauchy", "conditional", "learned"),
        vectors=rng.normal(size=(n, 3)),
    )


def _of_associations(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda X, **settings: function(mm.associations_from(X), **settings)


def _vectors(X: Any) -> mm.Vectors:
    return mm.Vectors([str(i) for i in range((*np.shape(X), 0)[0])], X)


def _functions() -> dict[str, Subject]:
    """Functions of data that estimators do not call, or that are called by themselves."""
    seeds = {"random_state": [0, None]}
    points = np.random.default_rng(1).normal(size=(10, 2))
    path = {"n_clusters": [range(1, 3)], "n_repeats": [2], **seeds}
    return {
        "nearest_neighbors": Subject(
            nearest_neighbors, VECTORS, {"k": [1, 3], "metric": _NEIGHBORHOODS["metric"]}
        ),
        "nearest_neighbors of distances": Subject(
            nearest_neighbors, VECTORS, {"k": [1, 3], "metric": ["precomputed"]},
            degenerate.distances,
        ),
        "GlobalGaussian": Subject(GlobalGaussian(2).similarities, VECTORS),
        "LocalPerplexity": Subject(LocalPerplexity(2).similarities, VECTORS),
        "mu_local": Subject(lambda X, **s: metrics.mu_local(X, points, **s), VECTORS, {"k": [2]}),
        "trustworthiness": Subject(
            lambda X, **s: metrics.trustworthiness(X, points, **s), VECTORS, {"k": [2]}
        ),
        "mu_global": Subject(lambda X: metrics.mu_global(X, points), VECTORS),
        "vectors_from": Subject(mm.vectors_from, VECTORS),
        "Vectors": Subject(_vectors, VECTORS),
        "insert": Subject(
            lambda X, **s: mm.insert(_atlas(), X, **s), VECTORS,
            {"n_neighbors": [2, "local"], "refine": [False, True]},
        ),
        "associations_from": Subject(mm.associations_from, SIMILARITIES),
        "similarity_map": Subject(mm.similarity_map, SIMILARITIES),
        "judgements_from": Subject(lambda X: mm.judgements_from([X, X]), SIMILARITIES),
        "diagnose": Subject(
            mm.diagnose, SIMILARITIES, {"affinity": ["precomputed"]}
        ),
        "evaluate": Subject(lambda X: mm.evaluate(_atlas(), X), SIMILARITIES),
        "evaluate vectors": Subject(lambda X: mm.evaluate(_atlas(), X), VECTORS),
        "cluster_path": Subject(mm.cluster_path, SIMILARITIES, path),
        "split_associations": Subject(
            _of_associations(mm.split_associations), SIMILARITIES, seeds
        ),
        "resampled": Subject(_of_associations(mm.resampled), SIMILARITIES, seeds),
        "counts_from": Subject(mm.counts_from, COUNTS),
        "correspondence_analysis": Subject(
            mm.correspondence_analysis, COUNTS, {"n_components": [2, 1, 5]}
        ),
    }  # fmt: skip


SUBJECTS: dict[str, Subject] = {**_map_estimators(), **_other_estimators(), **_functions()}


def run(seconds: float, seed: int) -> Outcome:
    """Cases of a seed, one after the other, for so long, in a process that may die of them."""
    outcome = Outcome("estimators")
    worker = Worker(case, _LONGEST)
    end = time.monotonic() + seconds
    number = 0
    while time.monotonic() < end:
        try:
            name, findings = worker(seed, number)
        except ProcessLost as lost:
            name = drawn(seed, number).name
            findings = [Finding(name, str(lost), f"case({seed}, {number})")]
        outcome.cases[name] += 1
        outcome.findings += findings
        number += 1
    worker.close()
    return outcome


@dataclass(frozen=True)
class Drawn:
    """A case before it is made."""

    name: str
    subject: Subject
    settings: dict[str, Any]
    data: Any
    told: str


def drawn(seed: int, number: int) -> Drawn:
    """What the case of these two numbers is."""
    rng = np.random.default_rng([seed, number])
    names = list(SUBJECTS)
    name = names[number % len(names)] if number < len(names) else str(rng.choice(names))
    subject = SUBJECTS[name]
    table = str(rng.choice(list(subject.data)))
    holding = str(rng.choice(list(HOLDINGS))) if rng.random() < 0.6 else "float64"
    with np.errstate(all="ignore"):
        X = hold(holding, subject.prepare(subject.data[table](rng)), rng)
    settings = {
        key: values[int(rng.integers(len(values)))] if rng.random() < 0.3 else values[0]
        for key, values in subject.settings.items()
    }
    shown = ", ".join(f"{k}={v!r}" for k, v in settings.items() if v != subject.settings[k][0])
    told = f"case({seed}, {number}): {name}({shown}) of {table}, as {holding}"
    return Drawn(name.split(" of ")[0], subject, settings, X, told)


def case(seed: int, number: int) -> tuple[str, list[Finding]]:
    """Make a case: its group, and what is wrong with it."""
    one = drawn(seed, number)
    try:
        found = list(dict.fromkeys(_wrongs(one.subject, one.data, one.settings)))
    except Exception as error:  # a check itself met what no caller should
        found = [f"{type(error).__name__} when looked at: {_line(error)}"]
    return one.name, [Finding(one.name, what, one.told) for what in found]


def _wrongs(subject: Subject, X: Any, settings: dict[str, Any]) -> Iterator[str]:
    """What is wrong with a case."""
    before = contents(X)
    first = _Call(subject, X, settings)
    yield from first.wrongs
    if contents(X) != before:
        yield "what it was given has changed"
    if first.refused:
        return
    if subject.is_estimator:
        yield from _wrong_numbers(first.result, subject.numbers)
        yield from _wrong_copies(first.result)
        yield from _wrong_transform(first.result, X)
        if contents(X) != before:
            yield "transform has changed what it was given"
    again = _Call(subject, X, settings)
    if again.refused or not _alike(first.state, again.state):
        yield "another result when called again"


class _Call:
    """A call and what it left behind."""

    def __init__(self, subject: Subject, X: Any, settings: dict[str, Any]):
        self.wrongs: list[str] = []
        self.refused = True
        self.result: Any = None
        np.random.seed(7)  # noqa: NPY002
        random.seed(7)
        must_draw = settings.get("random_state", 0) is None
        may_draw = must_draw or not (subject.draws_nothing or "random_state" in settings)
        own = {**settings}
        if isinstance(own.get("random_state"), np.random.RandomState):
            own["random_state"] = np.random.RandomState(3)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            try:
                if subject.is_estimator:
                    self.result = subject.make(**own).fit(X)
                else:
                    self.result = subject.make(X, **own)
                self.refused = False
            except _REFUSALS as error:
                if len(str(error).split()) < 4 or _INSIDES.search(str(error)):
                    self.wrongs.append(f"{type(error).__name__} that is no sentence: {error}")
            except Exception as error:
                self.wrongs.append(f"{type(error).__name__}: {_line(error)}")
        for warning in seen:
            if not issubclass(warning.category, _TOLD):
                self.wrongs.append(f"{warning.category.__name__}: {_line(warning.message)}")
        self._look_at_random_states(may_draw, must_draw)
        # Before anybody asks it for more, which it may keep.
        self.state = _state(self.result)

    def _look_at_random_states(self, may_draw: bool, must_draw: bool) -> None:
        there = np.random.get_state()  # noqa: NPY002
        if random.getstate() != random.Random(7).getstate():
            self.wrongs.append("Python's global random state has moved")
        one = np.random.RandomState(7)
        untouched = _alike(there, one.get_state())
        one.randint(2**31 - 1)
        once = _alike(there, one.get_state())
        if not may_draw and not untouched:
            self.wrongs.append("NumPy's global random state has moved")
        if may_draw and not (once or (untouched and (self.refused or not must_draw))):
            times = "not at all" if untouched else "more than once"
            self.wrongs.append(f"random_state=None draws from NumPy's global state {times}")


def _line(error: Any) -> str:
    return " ".join(str(error).split())[:200]


def _wrong_numbers(fitted: Any, names: tuple[str, ...]) -> Iterator[str]:
    for name in names:
        value = getattr(fitted, name, None)
        if value is None:
            yield f"{name} is missing"
            continue
        for key, part in value.items() if isinstance(value, dict) else [(name, value)]:
            no_part = name == "history_" and key == "validation"
            if not no_part and not np.isfinite(np.asarray(part, float)).all():
                yield f"{name}{'' if key == name else f'[{key!r}]'} is not finite"
    if "history_" in names and len({len(part) for part in fitted.history_.values()}) > 1:
        yield "history_ has columns of different lengths"
    atlas = getattr(fitted, "atlas_", None)
    if atlas is None:
        return
    shares = atlas.proportions
    if (shares < 0).any() or abs(shares.sum(axis=0) - 1).max() > 1e-5:
        yield "proportions do not sum to 1"
    if getattr(fitted, "kl_divergence_", 0.0) < -1e-4:
        yield f"kl_divergence_ is {fitted.kl_divergence_:g}"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for label in (atlas.labels[0], atlas.labels[-1]):
            kind = None if atlas.kinds is None else atlas.kinds[atlas.labels.index(label)]
            if not np.isfinite(atlas.similarities(label, kind=kind)).all():
                yield "a similarity is not finite"
            atlas.neighbors(label, kind=kind)


def _wrong_copies(fitted: Any) -> Iterator[str]:
    if repr(fitted) == object.__repr__(fitted):
        yield "it prints as an object of no name"
    if not _alike(_state(pickle.loads(pickle.dumps(fitted))), _state(fitted)):
        yield "a pickle of it is another"
    try:
        clone(fitted)
    except Exception as error:
        yield f"it cannot be cloned: {_line(error)}"


def _wrong_transform(fitted: Any, X: Any) -> Iterator[str]:
    """`transform` of what was fitted is what `fit` left."""
    if not hasattr(fitted, "transform"):
        return
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            places = fitted.transform(X)
        except _REFUSALS:
            return
        except Exception as error:
            yield f"transform: {type(error).__name__}: {_line(error)}"
            return
    for warning in seen:
        if not issubclass(warning.category, _TOLD):
            yield f"transform: {warning.category.__name__}: {_line(warning.message)}"
    if hasattr(fitted, "memberships_"):
        left = fitted.memberships_
    elif hasattr(fitted, "row_embedding_"):
        left = fitted.row_embedding_
    else:
        left = fitted.maps_.transpose(1, 0, 2).reshape(len(places), -1)
    if not np.array_equal(places, left):
        yield "transform of what was fitted is not what was fitted"


def _state(result: Any) -> Any:
    """All that a result holds, as what can be compared."""
    if isinstance(result, np.ndarray | float | int | str | bytes | bool | None):
        return result
    if sparse.issparse(result):
        whole = result.tocoo()
        return [whole.shape, whole.data, *whole.coords]
    if isinstance(result, dict):
        return [(str(key), _state(value)) for key, value in result.items()]
    if isinstance(result, tuple | list):
        return [_state(part) for part in result]
    if isinstance(result, np.random.RandomState):
        return "RandomState"
    if inspect.isclass(result) or callable(result) or not hasattr(result, "__dict__"):
        return repr(result) if not callable(result) else getattr(result, "__name__", "")
    return [(key, _state(value)) for key, value in vars(result).items()]


def _alike(a: Any, b: Any) -> bool:
    """Whether two states are the same, NaN like NaN."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        a, b = np.asarray(a), np.asarray(b)
        if a.dtype.kind == "O":
            return a.shape == b.shape and all(map(_alike, a.ravel(), b.ravel()))
        return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()
    if isinstance(a, tuple | list):
        return isinstance(b, tuple | list) and len(a) == len(b) and all(map(_alike, a, b))
    return bool(a == b or (a != a and b != b))
