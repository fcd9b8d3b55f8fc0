"""What parameters may be, and that every estimator says it of each of its own."""

import inspect
import pkgutil
from importlib import import_module

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import manymaps
import manymaps as mm
from manymaps.constraints import (
    ARRAY,
    AUTO,
    FUNCTION,
    N_JOBS,
    NONE,
    Choice,
    Number,
    Several,
    Whole,
    check_parameter,
    instance,
)
from manymaps.errors import ParameterError


def estimators():
    """Every estimator of the package that can be made."""
    for module in pkgutil.walk_packages(manymaps.__path__, "manymaps."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    found, left = set(), [BaseEstimator]
    while left:
        for kind in left.pop().__subclasses__():
            left.append(kind)
            if kind.__module__.startswith("manymaps.") and not inspect.isabstract(kind):
                found.add(kind)
    return sorted((kind for kind in found if not kind.__name__.startswith("_")), key=str)


EACH = pytest.mark.parametrize("estimator", estimators(), ids=lambda kind: kind.__name__)


class Foreign:
    """What no parameter takes."""

    def __repr__(self):
        return "Foreign()"


WRONG = [
    Foreign(), "a", b"a", "", True, np.True_, None, -1, 0, 0.5, 2.0, np.float32(2), 1j, 10**400,
    float("nan"), float("inf"), (), [], [1, "a"], {"a": 1}, {1}, np.array([1.0, 2.0]),
    np.array("a"), np.array(3), range(3), print, np.random.default_rng(0), Foreign,
]  # fmt: skip


@EACH
def test_every_parameter_is_declared_and_its_default_is_allowed(estimator):
    assert estimator._parameter_constraints.keys() == estimator().get_params(deep=False).keys()
    estimator()._validate_params()
    if "random_state" in estimator._parameter_constraints:
        for value in (0, np.int64(7), 2**32 - 1, np.random.RandomState(0), None):
            estimator(random_state=value)._validate_params()


@EACH
def test_what_is_not_allowed_is_named_before_anything_is_read(estimator):
    for name, allowed in estimator._parameter_constraints.items():
        refused = [value for value in WRONG if not any(one.allows(value) for one in allowed)]
        assert any(isinstance(value, Foreign) for value in refused), name
        for value in refused:
            with pytest.raises(ParameterError) as caught:
                estimator(**{name: value}).fit(None)
            assert caught.value.name == name
            assert caught.value.value is value
            assert str(caught.value).startswith(f"{name}=")


COUNTS = {"n_maps": 0, "n_components": True, "max_iter": 1.5}
#: A value of each parameter that is out of its range, or nearly of its type.
OUTSIDE = {
    mm.TSNE: {
        "early_exaggeration": 0.5, "early_exaggeration_iter": -1, "late_exaggeration": 0.5,
        "tolerance": 0.2, "n_components": True, "max_iter": True, "perplexity": [5, "a"],
        "learning_rate": "fast", "metric": 3, "neighbors": 15, "init": 7, "optimizer": "adam",
        "callback": [print, 3], "random_state": -1, "n_jobs": 0, "verbose": "loud",
    },
    mm.AspectMaps: COUNTS,
    mm.MultipleMapsSNE: COUNTS,
    mm.MultipleMapsTSNE: {
        "n_maps": -1, "affinity": "cosine", "normalization": "rows", "mixing": "free",
        "background": 1.0, "kernel_width": 0.0, "marginals": "yes", "penalty": -1e-9,
    },
    mm.CODE: {
        "normalization": "rows", "given": "words", "n_init": 0, "init": "pca", "penalty": -1,
        "tolerance": 2, "n_components": True, "marginals": "no", "optimizer": "lbfgs",
    },
    mm.AdditiveClustering: {
        "strict": "no", "solver": "auto", "constant": True, "polish": "much", "n_init": -1,
        "kind": "distance", "n_clusters": 0,
    },
    mm.AssociationPredictor: {
        "teacher": "myself", "random_state": "seed", "n_maps": 0, "n_components": 2.5,
        "max_iter": 0, "patience": 0, "penalty": 1e300, "bias_penalty": -1.0, "kernel": "box",
        "init": np.zeros((2, 3)), "distillation": 1.5,
    },
}  # fmt: skip


@pytest.mark.parametrize("estimator", OUTSIDE, ids=lambda kind: kind.__name__)
def test_a_value_out_of_range_or_of_a_wrong_type_is_named(estimator):
    for name, value in OUTSIDE[estimator].items():
        with pytest.raises(ParameterError) as caught:
            estimator(**{name: value}).fit(np.eye(6))
        assert caught.value.name == name


def test_numbers_of_numpy_are_numbers():
    points = np.random.default_rng(0).normal(size=(20, 3))
    fit = mm.TSNE(
        max_iter=np.int64(20), n_components=np.uint8(1), random_state=np.int32(3),
        tolerance=np.float32(0.01), perplexity=np.array([3, 5]), n_jobs=np.int8(1),
        early_exaggeration=np.float32(3), verbose=np.False_,
    )  # fmt: skip
    assert np.isfinite(fit.fit(points).embedding_).all()


def test_a_subclass_may_add_a_parameter_without_a_word():
    class Ours(mm.TSNE):
        def __init__(self, perplexity=30.0, anything=None):
            super().__init__(perplexity=perplexity, max_iter=5)
            self.anything = anything

    assert Ours(5, Foreign()).fit(np.random.default_rng(0).normal(size=(20, 3))).n_iter_ == 5
    with pytest.raises(ParameterError):
        Ours("a").fit(np.eye(6))


COMBINED = [
    ([Whole(most=-1)], 3, "must be a whole number of at most -1"),
    ([Number(above=0), AUTO], "a", "must be a finite number above 0, or 'auto'"),
    (
        [Number(least=0, why=": so"), FUNCTION, NONE], (),
        "must be a finite number of at least 0, a function, or None: so",
    ),
    (
        [Choice(("ca", "random")), ARRAY, instance("an Atlas", int)], "circle",
        "is not one of ca, random, nor an array or an Atlas",
    ),
    (N_JOBS, 0, "must be a whole number of at least 1, a whole number of at most -1, or None"),
    ([Several(Whole(1), "several numbers")], [], "must be several numbers"),
]  # fmt: skip


@pytest.mark.parametrize(("allowed", "value", "said"), COMBINED)
def test_refusals_say_what_is_allowed(allowed, value, said):
    with pytest.raises(ParameterError) as caught:
        check_parameter("x", value, allowed)
    assert str(caught.value) == f"x={value!r} {said}"


def test_arrays():
    for value in ([1.0, 2], np.eye(2), ((0, 1), (2, 3)), np.array([1, "2"], object)):
        assert ARRAY.allows(value)
    for value in ("a", 1.0, None, [[1], [2, 3]], ["a", "b"], np.array(3.0), {"a": 1}, [1j]):
        assert not ARRAY.allows(value)
