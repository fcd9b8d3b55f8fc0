"""Models of meaning with positions of words in a space, as models of association.

    model                    activation a_ij                     source
    LatentSemanticAnalysis   exp(cos(x_i, x_j) / temperature)    Deerwester et al. 1990
    ClassicalScaling         exp(-d2_ij / width)                 Torgerson 1952, Laub & Mueller 2004
    ExtendedEuclidean        exp(-|x_i - x_j|^2 - s_j)           Winsberg & Carroll 1989

`lib.models` explains how activation becomes q(j|i), and how parameters are chosen.

Shapes: positions (n, n_components), activation (len(rows), n).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from scipy import sparse

from lib.models import NOT_NEGATIVE, POSITIVE, AssociationModel
from manymaps.affinity.network import (
    association_network,
    degree_scaled,
    spectral_directions,
)
from manymaps.compute.scaling import centred_products, scaled_axes
from manymaps.compute.threads import one_blas_thread
from manymaps.constraints import Allowed, Number, Whole
from manymaps.model.rows import ChoiceMaps, RowCost
from manymaps.seeds import drawn_seed

__all__ = ["ChoiceCost", "ClassicalScaling", "ExtendedEuclidean", "LatentSemanticAnalysis"]

_ROWS_AT_ONCE = 512


class ChoiceCost:
    """sum p log(p / q) over the training part, with penalty, and its gradient, of one vector.

    The cost of one map (`manymaps.model.rows`) whose biases are -s, about their mean: only
    differences of specificities matter to q.

    Parameters
    ----------
    train : sparse array of shape (n, n)
    shape : (n, n_components)
    penalty : float
    """

    def __init__(self, train: sparse.csr_array, shape: tuple[int, int], penalty: float):
        self.shape = shape
        self.cost = RowCost(train, penalty, bias_penalty=penalty)
        self._known = float(train.data @ np.log(train.data))

    def __call__(self, vector: np.ndarray) -> tuple[float, np.ndarray]:
        n, d = self.shape
        positions = vector[: n * d].reshape(1, n, d).astype(np.float32)
        specificities = vector[n * d :] - vector[n * d :].mean()
        biases = -specificities.astype(np.float32)
        maps = ChoiceMaps(positions, np.zeros((1, n), np.float32), biases)
        total, (by_positions, _, by_biases) = self.cost.whole(maps)
        gradient = np.concatenate([by_positions.ravel(), -by_biases]).astype(np.float64)
        return total + self._known, gradient


def _squared_distances(positions: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Compute |x_i - x_j|^2 of some rows i to all j."""
    norms = np.einsum("ij,ij->i", positions, positions)
    squares = positions[rows] @ positions.T
    squares *= -2
    squares += norms[rows, None]
    squares += norms
    return np.maximum(squares, 0, out=squares)


class LatentSemanticAnalysis(AssociationModel):
    """Leading eigenvectors of the symmetrized associations, compared by cosines.

        S ~ U L U^T,   x_i = (U |L|^exponent)_i,   a_ij = exp(cos(x_i, x_j) / temperature)

    (Deerwester et al. 1990; of association norms, as the word association spaces of Steyvers,
    Shiffrin & Nelson 2004.) S is the network of `manymaps.affinity.network`.

    Parameters
    ----------
    n_components : int
    power : float >= 0
        Of the strengths.
    exponent : float >= 0
    offset : float > 0
        Added to each row sum by whose roots the table is divided.
    temperature : float > 0
    popularity, smoothing, uniform : float
        See `lib.models`.

    Examples
    --------
    >>> two = sparse.csr_array(np.kron(np.eye(2), (np.ones((3, 3)) - np.eye(3)) / 2))
    >>> q = LatentSemanticAnalysis(n_components=2).fit(two, random_state=0).probabilities([0])
    >>> bool(q[0, 1:3].sum() > 0.9)
    True
    """

    reading = AssociationModel.reading | {"temperature"}
    _parameter_constraints: ClassVar[Mapping[str, Allowed]] = {
        **AssociationModel._parameter_constraints,
        "n_components": [Whole(1)],
        "power": [NOT_NEGATIVE],
        "exponent": [NOT_NEGATIVE],
        "offset": [POSITIVE],
        "temperature": [POSITIVE],
    }

    def __init__(
        self,
        *,
        n_components: int = 100,
        power: float = 0.15,
        exponent: float = 2.0,
        offset: float = 0.2,
        temperature: float = 0.1,
        popularity: float = 0.4,
        smoothing: float = 0.08,
        uniform: float = 0.05,
    ):
        self.n_components = n_components
        self.power = power
        self.exponent = exponent
        self.offset = offset
        self.temperature = temperature
        self.popularity = popularity
        self.smoothing = smoothing
        self.uniform = uniform

    def _fit(self, train: sparse.csr_array, seed: int | None) -> None:
        self._check_counts(train.shape[0], n_components=1)
        self.directions_ = spectral_directions(
            train,
            self.n_components,
            power=self.power,
            exponent=self.exponent,
            offset=self.offset,
            seed=seed,
        )

    def _activation(self, rows: np.ndarray) -> np.ndarray:
        cosines = self.directions_[rows] @ self.directions_.T
        activation = np.exp((cosines - 1) / self.temperature)
        activation[~self.directions_[rows].any(axis=1)] = 0.0  # cues without associations
        return activation


class ClassicalScaling(AssociationModel):
    """Classical scaling of path lengths with a positive and a negative map.

        d2_ij = |x_i - x_j|^2 - negative |z_i - z_j|^2,      a_ij = exp(-d2_ij / (width median d2))

    -1/2 J D^2 J of the squared path lengths D^2 has eigenvalues of both signs. The leading positive
    ones give x (Torgerson 1952); those most below zero give z, the features that no Euclidean map
    can show (Laub & Mueller 2004). An association is a path of length 1 + log(max w / w), w its
    strength divided by the roots of both ends' sums.

    The fit needs memory for three tables of all pairs.

    Parameters
    ----------
    n_positive, n_negative : int
        Dimensions of both maps; `n_negative` may be 0.
    negative : float
        Weight of the negative map; 1 is the pseudo-Euclidean distance.
    width : float > 0
        In units of the median |x_i - x_j|^2.
    offset, power : float > 0
        Added to each sum; exponent of the strengths.
    popularity, smoothing, uniform : float
        See `lib.models`.

    Examples
    --------
    >>> ring = sparse.diags_array([0.5] * 4, offsets=[-11, -1, 1, 11], shape=(12, 12)).tocsr()
    >>> model = ClassicalScaling(n_positive=2, n_negative=0, smoothing=0).fit(ring, random_state=0)
    >>> sorted(np.argsort(-model.probabilities([0])[0])[:2].tolist())
    [1, 11]
    """

    reading = AssociationModel.reading | {"negative", "width"}
    _parameter_constraints: ClassVar[Mapping[str, Allowed]] = {
        **AssociationModel._parameter_constraints,
        "n_positive": [Whole(1)],
        "n_negative": [Whole(0)],
        "negative": [Number()],
        "width": [POSITIVE],
        "offset": [POSITIVE],
        "power": [POSITIVE],
    }

    def __init__(
        self,
        *,
        n_positive: int = 50,
        n_negative: int = 60,
        negative: float = 0.5,
        width: float = 0.08,
        offset: float = 0.2,
        power: float = 0.7,
        popularity: float = 0.4,
        smoothing: float = 0.03,
        uniform: float = 0.05,
    ):
        self.n_positive = n_positive
        self.n_negative = n_negative
        self.negative = negative
        self.width = width
        self.offset = offset
        self.power = power
        self.popularity = popularity
        self.smoothing = smoothing
        self.uniform = uniform

    def _fit(self, train: sparse.csr_array, seed: int | None) -> None:
        self._check_counts(train.shape[0], n_positive=1, n_negative=0)
        products = self._products(train)
        seed = drawn_seed(seed)
        self.positive_ = _eigenmap(products, self.n_positive, 1.0, seed)
        self.negative_ = _eigenmap(products, self.n_negative, -1.0, seed)
        some = np.random.default_rng(0).permutation(train.shape[0])[:_ROWS_AT_ONCE]
        self.unit_ = float(np.median(_squared_distances(self.positive_, some))) or 1.0

    def _products(self, train: sparse.csr_array) -> np.ndarray:
        """Compute -1/2 J D^2 J of path lengths."""
        from scipy.sparse.csgraph import dijkstra

        network = degree_scaled(association_network(train, power=self.power), self.offset)
        network.data = 1 + np.log(network.data.max() / network.data)
        lengths = dijkstra(sparse.csr_matrix(network), directed=False)
        apart = np.isinf(lengths)
        if apart.any():
            lengths[apart] = lengths[~apart].max()
        return centred_products(np.square(lengths, out=lengths).astype(np.float32))

    def _activation(self, rows: np.ndarray) -> np.ndarray:
        distances = _squared_distances(self.positive_, rows)
        if self.negative and self.negative_.shape[1]:
            distances -= self.negative * _squared_distances(self.negative_, rows)
        distances[np.arange(len(rows)), rows] = np.inf
        distances -= distances.min(axis=1, keepdims=True)
        return np.exp(-distances / (self.width * self.unit_))


def _eigenmap(products: np.ndarray, count: int, sign: float, seed: int) -> np.ndarray:
    """Compute eigenvectors times the root of |eigenvalue|, for the largest of one sign."""
    n = len(products)
    if count == 0:
        return np.zeros((n, 0))
    start = np.random.default_rng(seed).normal(size=n).astype(np.float32)
    with one_blas_thread():
        return scaled_axes(sign * products, count, start, most_dense=2 * count + 20)


class ExtendedEuclidean(AssociationModel):
    """A Euclidean space in which each word also has a specificity.

        d2_ij = |x_i - x_j|^2 + s_i + s_j,     s >= 0,      q(j|i) ~ exp(-d2_ij)

    (Winsberg & Carroll 1989.) Winsberg and Carroll fit d2 to judged dissimilarities; here it is
    the exponent of a choice model, fitted by L-BFGS to the training part in the sense of
    KL(P || Q). There the cue's s_i cancels, and a constant added to all s changes nothing, so
    that s >= 0 is not a constraint: the smallest is 0.

    Parameters
    ----------
    n_components : int
    penalty : float >= 0
        penalty / 2 (sum |x|^2 + sum (s - mean)^2) on the cost summed over cues.
    max_iter : int
        Iterations of L-BFGS; a small number prevents overfitting.
    offset : float > 0
        That of the latent semantic analysis from which the fit starts.
    temperature : float > 0
        d2 is divided by it in predictions.
    popularity, smoothing, uniform : float
        See `lib.models`.

    Examples
    --------
    >>> ring = sparse.diags_array([0.5] * 4, offsets=[-11, -1, 1, 11], shape=(12, 12)).tocsr()
    >>> model = ExtendedEuclidean(n_components=3, penalty=0.01).fit(ring, random_state=0)
    >>> sorted(np.argsort(-model.probabilities([0])[0])[:2].tolist())
    [1, 11]
    """

    reading = AssociationModel.reading | {"temperature"}
    _parameter_constraints: ClassVar[Mapping[str, Allowed]] = {
        **AssociationModel._parameter_constraints,
        "n_components": [Whole(1)],
        "penalty": [NOT_NEGATIVE],
        "max_iter": [Whole(1)],
        "offset": [POSITIVE],
        "temperature": [POSITIVE],
    }

    def __init__(
        self,
        *,
        n_components: int = 70,
        penalty: float = 0.3,
        max_iter: int = 15,
        offset: float = 0.2,
        temperature: float = 1.0,
        popularity: float = 0.0,
        smoothing: float = 0.03,
        uniform: float = 0.1,
    ):
        self.n_components = n_components
        self.penalty = penalty
        self.max_iter = max_iter
        self.offset = offset
        self.temperature = temperature
        self.popularity = popularity
        self.smoothing = smoothing
        self.uniform = uniform

    def _fit(self, train: sparse.csr_array, seed: int | None) -> None:
        from scipy.optimize import minimize

        start = LatentSemanticAnalysis(n_components=self.n_components, offset=self.offset)
        positions = start.fit(train, random_state=seed).directions_
        specificities = -np.log(self.popularity_)
        cost = ChoiceCost(train, positions.shape, self.penalty)
        with one_blas_thread():
            optimum = minimize(
                cost,
                np.concatenate([positions.ravel(), specificities]),
                jac=True,
                method="L-BFGS-B",
                options={"maxiter": self.max_iter, "maxcor": 10},
            )
        self.positions_ = optimum.x[: positions.size].reshape(positions.shape)
        self.specificities_ = optimum.x[positions.size :] - optimum.x[positions.size :].min()
        self.n_iter_ = int(optimum.nit)

    def _activation(self, rows: np.ndarray) -> np.ndarray:
        distances = _squared_distances(self.positions_, rows) + self.specificities_
        distances[np.arange(len(rows)), rows] = np.inf
        distances -= distances.min(axis=1, keepdims=True)
        return np.exp(-distances / self.temperature)
