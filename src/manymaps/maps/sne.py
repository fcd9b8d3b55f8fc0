"""Single maps: stochastic neighbour embedding and related methods.

estimator      K             q            background   source
SNE            exp(-d2)      conditional  0            Hinton & Roweis 2002
SymmetricSNE   exp(-d2)      joint        0            Cook, Sutskever, Mnih & Hinton 2007, sec. 2
UniSNE         exp(-d2)      joint        0.2          the same, sec. 2.1
TSNE           1 / (1 + d2)  joint        0            van der Maaten & Hinton 2008

Each estimator combines a `ChoiceModel` with an optimizer. `manymaps.optimizers.loop` performs the
optimization, as it does for multiple maps.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np

from manymaps.affinity.affinities import LocalPerplexity
from manymaps.constraints import AUTO, Allowed, Number, Whole
from manymaps.errors import DataWarning, setting
from manymaps.maps.estimator import MapEstimator
from manymaps.model.choice import CHOICES, SYMMETRIC_SNE, T_SNE, UNI_SNE
from manymaps.model.choice import SNE as SNE_MODEL
from manymaps.optimizers.momentum import Momentum, Optimizer, Schedule

# Number of iterations with exaggeration, as in van der Maaten (2014).
_EXAGGERATED = 250
# Standard deviation of the initial noise in up to two dimensions; it is smaller in more dimensions.
# With a noise of 1 along each of seven axes, only one pair remains close. That pair contributes all
# of Z, and the run diverges.
_JITTER = 1.0
# Learning rate of Belkina et al. (2019), on the scale of a cost that is summed over rows.
_RATE = 0.25
# Momentum of t-SNE, and the momentum of fits of many objects, whose maps expand quickly for about
# 50 iterations after the exaggeration. A higher momentum during this expansion increases the final
# KL of data without clusters (3.695 instead of 3.662, and 3.650 with this delay, for 5,000 Gaussian
# points). Compared with 0.8, the KL after 750 iterations is 2.017 instead of 2.090 for 20,000 MNIST
# images, and 1.970 instead of 2.011 for 8,000 newsgroup posts. The fractions of the ten nearest
# neighbours kept are equal to within 0.002. Smaller maps have almost converged after 750
# iterations. With 0.9, learning rates above "auto" are unstable.
_MOMENTUM, _HIGH_MOMENTUM, _EXPANDING, _MANY_OBJECTS = 0.8, 0.9, 50, 5_000
# Highest useful learning rate per object, on the same scale. At a rate of 2, the maps are slightly
# worse than at 1/4; at a rate of 5, they are useless.
_STRANGE_RATE = 4.0


class _SingleMap(MapEstimator):
    """Base class of the four estimators."""

    _start_spread = 1e-3

    @property
    def embedding_(self) -> np.ndarray:
        """Positions, of shape (n, n_components)."""
        return self.maps_[0]

    def _default_optimizer(self, n_objects: int) -> Optimizer:
        return _with_jitter(self.max_iter, self.n_components)


def _with_jitter(iterations: int, n_components: int, **settings: Any) -> Momentum:
    """Create momentum with noise that is annealed in two stages over three quarters of the run."""
    end = max(2, 3 * iterations // 4)
    noise = _JITTER * min(1.0, 2 / n_components)
    jitter = Schedule(((0, noise), (end // 2, noise / 4), (end, 0.0)), linear=True)
    return _plain(jitter=jitter, **settings)


def _plain(**settings: Any) -> Momentum:
    return Momentum(
        learning_rate=_RATE, momentum=Schedule(((0, 0.8),)), exaggeration=Schedule(((0, 1.0),)),
        **settings,
    )  # fmt: skip


class SNE(_SingleMap):
    """Stochastic neighbour embedding (SNE) with one Gaussian neighbourhood per object.

    Parameters
    ----------
    n_components : int
        Number of dimensions of the map. The default is 2.
    perplexity : float or sequence of float
        Effective number of neighbours if X contains vectors. The default is 30. The similarities of
        several perplexities are averaged (multi-scale).
    metric : str or callable
        Distance between vectors: any metric supported by scikit-learn, or "precomputed" if X
        contains distances. The default is "euclidean".
    affinity : {"auto", "precomputed"} or Affinity
        Conversion of X to similarities. The default "auto" computes Gaussian neighbourhoods with
        `perplexity`; "precomputed" uses X as similarities. An `Affinity` such as
        `LocalPerplexity()` has its own settings.
    neighbors : NeighborSearch, optional
        Method and recall of the search for neighbours. By default, an exact search is used if it is
        cheap, and an approximate search otherwise.
    init : {"auto", "random", "pca", "mds"}, ndarray (n, n_components), or Atlas
        Starting positions. The default "auto" means "pca" for vectors and "random" for other data.
        If the optimizer defines a `start_spread`, "auto" means "random".
    n_init : int
        Number of runs. The run with the lowest cost is kept. Runs after the first start at random
        positions. The default is 1.
    max_iter : int
        Maximum number of iterations per run. A run ends earlier if the cost stops decreasing. The
        default is 1,000 for `SNE` and `SymmetricSNE`, 2,500 for `UniSNE`, 750 for `TSNE` and 2,000
        for estimators of multiple maps.
    optimizer : Optimizer, optional
        Optimizer of the cost. The default is `Momentum` with noise that is annealed in two stages
        over three quarters of the run (Hinton & Roweis 2002).
    tolerance : float in [0, 0.1]
        Target relative error of the repulsive forces. The default is 0.005. At 0, the forces are
        summed exactly.
    callback : callable or list of callable, optional
        Functions called as `callback(iteration, cost, atlas_so_far)` after each iteration, where
        `atlas_so_far()` returns an `Atlas`. If one of them returns a true value, the fit stops. By
        default, no function is called.
    random_state : int, RandomState or None
        Seed of the fit. On one machine, the same seed gives bit-identical results for any number of
        threads. If None (the default), the seed is drawn from NumPy's global random state. If a
        `RandomState` is passed, the seed is drawn from it.
    n_jobs : int, optional
        Number of threads for this fit. None (the default) keeps the current number, and -1 uses all
        processors.
    verbose : bool
        Whether to show the progress of the fit, as a bar in a terminal or notebook and as one line
        per minute elsewhere (see `show_progress`). The default is False.

    Attributes
    ----------
    atlas_ : Atlas
        The fitted atlas.
    embedding_ : ndarray of shape (n, n_components)
        Position of each object, `maps_[0]`.
    maps_ : ndarray of shape (1, n, n_components)
        Position of each object in the map.
    kl_divergence_ : float
        KL(P || Q) in nats. For a conditional model, it is the mean over objects; for a joint model,
        it is the sum over all pairs.
    n_iter_ : int
        Number of iterations of the best run.
    converged_ : bool
        Whether the best run ended because the cost stopped decreasing, before `max_iter`.
    history_ : dict of str to ndarray
        Values recorded during the run: "iteration", "cost" and "kl".
    restarts_ : tuple of Restart
        Summary of each run: `seed`, `cost`, `kl_divergence`, `n_iter` and `converged`.
    n_features_in_ : int
        Number of columns of X, or number of objects if X contains associations or neighbours.

    See Also
    --------
    SymmetricSNE, TSNE, MultipleMapsSNE

    References
    ----------
    G. Hinton and S. Roweis, Stochastic neighbor embedding, NIPS 15, 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import SNE
    >>> corners = np.repeat(np.eye(3), 10, axis=0)
    >>> points = corners + 0.01 * np.random.default_rng(0).normal(size=corners.shape)
    >>> fit = SNE(perplexity=5, max_iter=300, random_state=0).fit(points)
    >>> fit.embedding_.shape
    (30, 2)
    """

    method = "sne"
    _preset = SNE_MODEL


class SymmetricSNE(_SingleMap):
    """Symmetric SNE: Gaussian neighbourhoods with one distribution over all pairs.

    P is the average of the conditional neighbourhoods. With `affinity=GlobalGaussian()`, P is the
    table of equation 4, with one bandwidth for all pairs.

    Parameters
    ----------
    n_components : int
        Number of dimensions of the map. The default is 2.
    perplexity : float or sequence of float
        Effective number of neighbours if X contains vectors. The default is 30. The similarities of
        several perplexities are averaged (multi-scale).
    metric : str or callable
        Distance between vectors: any metric supported by scikit-learn, or "precomputed" if X
        contains distances. The default is "euclidean".
    affinity : {"auto", "precomputed"} or Affinity
        Conversion of X to similarities. The default "auto" computes Gaussian neighbourhoods with
        `perplexity`; "precomputed" uses X as similarities. An `Affinity` such as
        `LocalPerplexity()` has its own settings.
    neighbors : NeighborSearch, optional
        Method and recall of the search for neighbours. By default, an exact search is used if it is
        cheap, and an approximate search otherwise.
    init : {"auto", "random", "pca", "mds"}, ndarray (n, n_components), or Atlas
        Starting positions. The default "auto" means "pca" for vectors and "random" for other data.
        If the optimizer defines a `start_spread`, "auto" means "random".
    n_init : int
        Number of runs. The run with the lowest cost is kept. Runs after the first start at random
        positions. The default is 1.
    max_iter : int
        Maximum number of iterations per run. A run ends earlier if the cost stops decreasing. The
        default is 1,000 for `SNE` and `SymmetricSNE`, 2,500 for `UniSNE`, 750 for `TSNE` and 2,000
        for estimators of multiple maps.
    optimizer : Optimizer, optional
        Optimizer of the cost. The default is `Momentum` with noise that is annealed in two stages
        over three quarters of the run (Hinton & Roweis 2002).
    tolerance : float in [0, 0.1]
        Target relative error of the repulsive forces. The default is 0.005. At 0, the forces are
        summed exactly.
    callback : callable or list of callable, optional
        Functions called as `callback(iteration, cost, atlas_so_far)` after each iteration, where
        `atlas_so_far()` returns an `Atlas`. If one of them returns a true value, the fit stops. By
        default, no function is called.
    random_state : int, RandomState or None
        Seed of the fit. On one machine, the same seed gives bit-identical results for any number of
        threads. If None (the default), the seed is drawn from NumPy's global random state. If a
        `RandomState` is passed, the seed is drawn from it.
    n_jobs : int, optional
        Number of threads for this fit. None (the default) keeps the current number, and -1 uses all
        processors.
    verbose : bool
        Whether to show the progress of the fit, as a bar in a terminal or notebook and as one line
        per minute elsewhere (see `show_progress`). The default is False.

    Attributes
    ----------
    atlas_ : Atlas
        The fitted atlas.
    embedding_ : ndarray of shape (n, n_components)
        Position of each object, `maps_[0]`.
    maps_ : ndarray of shape (1, n, n_components)
        Position of each object in the map.
    kl_divergence_ : float
        KL(P || Q) in nats. For a conditional model, it is the mean over objects; for a joint model,
        it is the sum over all pairs.
    n_iter_ : int
        Number of iterations of the best run.
    converged_ : bool
        Whether the best run ended because the cost stopped decreasing, before `max_iter`.
    history_ : dict of str to ndarray
        Values recorded during the run: "iteration", "cost" and "kl".
    restarts_ : tuple of Restart
        Summary of each run: `seed`, `cost`, `kl_divergence`, `n_iter` and `converged`.
    n_features_in_ : int
        Number of columns of X, or number of objects if X contains associations or neighbours.

    See Also
    --------
    SNE, UniSNE, TSNE, affinity.GlobalGaussian

    References
    ----------
    J.A. Cook, I. Sutskever, A. Mnih and G.E. Hinton, Visualizing similarity data with a mixture of
    maps, AISTATS 2007, section 2.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import SymmetricSNE
    >>> line = np.arange(40.0)[:, None]
    >>> fit = SymmetricSNE(1, perplexity=4, max_iter=200, random_state=0).fit(line)
    >>> fit.atlas_.method
    'symmetric-sne'
    """

    method = "symmetric-sne"
    _preset = SYMMETRIC_SNE


@dataclass(eq=False, repr=False, kw_only=True)
class UniSNE(_SingleMap):
    """UNI-SNE: symmetric SNE with a uniform background, which lets dissimilar groups separate.

        q_ij = (1 - background) K_ij / Z + background / (n (n - 1))

    Parameters
    ----------
    n_components : int
        Number of dimensions of the map. The default is 2.
    perplexity : float or sequence of float
        Effective number of neighbours if X contains vectors. The default is 30. The similarities of
        several perplexities are averaged (multi-scale).
    metric : str or callable
        Distance between vectors: any metric supported by scikit-learn, or "precomputed" if X
        contains distances. The default is "euclidean".
    affinity : {"auto", "precomputed"} or Affinity
        Conversion of X to similarities. The default "auto" computes Gaussian neighbourhoods with
        `perplexity`; "precomputed" uses X as similarities. An `Affinity` such as
        `LocalPerplexity()` has its own settings.
    neighbors : NeighborSearch, optional
        Method and recall of the search for neighbours. By default, an exact search is used if it is
        cheap, and an approximate search otherwise.
    init : {"auto", "random", "pca", "mds"}, ndarray (n, n_components), or Atlas
        Starting positions. The default "auto" means "pca" for vectors and "random" for other data.
        If the optimizer defines a `start_spread`, "auto" means "random".
    n_init : int
        Number of runs. The run with the lowest cost is kept. Runs after the first start at random
        positions. The default is 1.
    max_iter : int
        Maximum number of iterations per run. A run ends earlier if the cost stops decreasing. The
        default is 1,000 for `SNE` and `SymmetricSNE`, 2,500 for `UniSNE`, 750 for `TSNE` and 2,000
        for estimators of multiple maps.
    optimizer : Optimizer, optional
        Optimizer of the cost. By default, as in the paper, the background is 0 for the first two
        fifths of the run, until it reaches a solution of symmetric SNE. With the full background
        from the beginning, distant pairs would hardly attract each other. The background then rises
        to its full value over a third of the run, which gives a lower cost than a sudden rise. If
        `init` is an array or an `Atlas` (for example from `SymmetricSNE`), the background rises
        during the first half of the run.
    tolerance : float in [0, 0.1]
        Target relative error of the repulsive forces. The default is 0.005. At 0, the forces are
        summed exactly.
    callback : callable or list of callable, optional
        Functions called as `callback(iteration, cost, atlas_so_far)` after each iteration, where
        `atlas_so_far()` returns an `Atlas`. If one of them returns a true value, the fit stops. By
        default, no function is called.
    random_state : int, RandomState or None
        Seed of the fit. On one machine, the same seed gives bit-identical results for any number of
        threads. If None (the default), the seed is drawn from NumPy's global random state. If a
        `RandomState` is passed, the seed is drawn from it.
    n_jobs : int, optional
        Number of threads for this fit. None (the default) keeps the current number, and -1 uses all
        processors.
    verbose : bool
        Whether to show the progress of the fit, as a bar in a terminal or notebook and as one line
        per minute elsewhere (see `show_progress`). The default is False.
    background : float in [0, 1)
        Fraction of the similarity that is spread evenly over all pairs. The default is 0.2.

    Attributes
    ----------
    atlas_ : Atlas
        The fitted atlas.
    embedding_ : ndarray of shape (n, n_components)
        Position of each object, `maps_[0]`.
    maps_ : ndarray of shape (1, n, n_components)
        Position of each object in the map.
    kl_divergence_ : float
        KL(P || Q) in nats. For a conditional model, it is the mean over objects; for a joint model,
        it is the sum over all pairs.
    n_iter_ : int
        Number of iterations of the best run.
    converged_ : bool
        Whether the best run ended because the cost stopped decreasing, before `max_iter`.
    history_ : dict of str to ndarray
        Values recorded during the run: "iteration", "cost" and "kl".
    restarts_ : tuple of Restart
        Summary of each run: `seed`, `cost`, `kl_divergence`, `n_iter` and `converged`.
    n_features_in_ : int
        Number of columns of X, or number of objects if X contains associations or neighbours.

    See Also
    --------
    SymmetricSNE, TSNE

    References
    ----------
    J.A. Cook, I. Sutskever, A. Mnih and G.E. Hinton, Visualizing similarity data with a mixture of
    maps, AISTATS 2007, sections 2.1 and 6.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import UniSNE
    >>> line = np.arange(40.0)[:, None]
    >>> fit = UniSNE(1, perplexity=4, max_iter=200, random_state=0).fit(line)
    >>> fit.atlas_.model.background
    0.2
    """

    method = "uni-sne"
    _preset = UNI_SNE
    _parameter_constraints: ClassVar[Mapping[str, Allowed]] = {
        **_SingleMap._parameter_constraints,
        "background": CHOICES["background"],
    }

    background: float = 0.2
    max_iter: int = 2500

    @classmethod
    def cook_2007(cls) -> Self:
        """Return the estimator with the settings of the paper for its digits (section 6).

        The run starts at random with 1,100 updates of symmetric SNE with decaying jitter, which
        1,500 updates with a background of 0.2 follow. The perplexity is 30. The paper does not
        omit distant pairs; `affinity=GaussianAffinity(30, n_neighbors=...)` includes more of them.

        Returns
        -------
        UniSNE
            Estimator with these settings.

        Examples
        --------
        >>> from manymaps import UniSNE
        >>> paper = UniSNE.cook_2007()
        >>> [paper.optimizer.background_share(k) for k in (1099, 1100)]
        [0.0, 1.0]
        """
        share = Schedule(((0, 0.0), (1100, 1.0)))
        return cls(
            perplexity=30.0, background=0.2, init="random", max_iter=2600,
            optimizer=_with_jitter(1100, 2, background_share=share),
        )  # fmt: skip

    def _default_optimizer(self, n_objects: int) -> Optimizer:
        rise = max(1, self.max_iter // 3)
        if not isinstance(self.init, str):
            half = max(1, self.max_iter // 2)
            return _plain(background_share=Schedule(((0, 0.0), (half, 1.0)), linear=True))
        without = max(1, 2 * self.max_iter // 5)
        share = Schedule(((0, 0.0), (without, 0.0), (without + rise, 1.0)), linear=True)
        return _with_jitter(without, self.n_components, background_share=share)


@dataclass(eq=False, repr=False, kw_only=True)
class TSNE(_SingleMap):
    """t-SNE, with early and late exaggeration.

    Parameters
    ----------
    n_components : int
        Number of dimensions of the map. The default is 2.
    perplexity : float or sequence of float
        Effective number of neighbours if X contains vectors. The default is 30. The similarities of
        several perplexities are averaged (multi-scale).
    metric : str or callable
        Distance between vectors: any metric supported by scikit-learn, or "precomputed" if X
        contains distances. The default is "euclidean".
    affinity : {"auto", "precomputed"} or Affinity
        Conversion of X to similarities. The default "auto" computes Gaussian neighbourhoods with
        `perplexity`; "precomputed" uses X as similarities. An `Affinity` such as
        `LocalPerplexity()` has its own settings.
    neighbors : NeighborSearch, optional
        Method and recall of the search for neighbours. By default, an exact search is used if it is
        cheap, and an approximate search otherwise.
    init : {"auto", "random", "pca", "mds"}, ndarray (n, n_components), or Atlas
        Starting positions. The default "auto" means "pca" for vectors and "random" for other data.
        If the optimizer defines a `start_spread`, "auto" means "random".
    n_init : int
        Number of runs. The run with the lowest cost is kept. Runs after the first start at random
        positions. The default is 1.
    max_iter : int
        Maximum number of iterations per run. A run ends earlier if the cost stops decreasing. The
        default is 1,000 for `SNE` and `SymmetricSNE`, 2,500 for `UniSNE`, 750 for `TSNE` and 2,000
        for estimators of multiple maps.
    optimizer : Optimizer, optional
        Optimizer of the cost. The default is `Momentum` with the exaggeration and learning rate set
        by the other parameters. The momentum is 0.8. For 5,000 or more objects with the automatic
        learning rate, it is 0.9 from 50 iterations after early exaggeration to the start of late
        exaggeration.
    tolerance : float in [0, 0.1]
        Target relative error of the repulsive forces. The default is 0.005. At 0, the forces are
        summed exactly.
    callback : callable or list of callable, optional
        Functions called as `callback(iteration, cost, atlas_so_far)` after each iteration, where
        `atlas_so_far()` returns an `Atlas`. If one of them returns a true value, the fit stops. By
        default, no function is called.
    random_state : int, RandomState or None
        Seed of the fit. On one machine, the same seed gives bit-identical results for any number of
        threads. If None (the default), the seed is drawn from NumPy's global random state. If a
        `RandomState` is passed, the seed is drawn from it.
    n_jobs : int, optional
        Number of threads for this fit. None (the default) keeps the current number, and -1 uses all
        processors.
    verbose : bool
        Whether to show the progress of the fit, as a bar in a terminal or notebook and as one line
        per minute elsewhere (see `show_progress`). The default is False.
    early_exaggeration : float >= 1
        Factor by which attraction is multiplied in the first `early_exaggeration_iter` iterations.
        The default is 12.
    early_exaggeration_iter : int >= 0 or "auto"
        Number of iterations with early exaggeration, which are part of `max_iter`. The default
        "auto" means 250, or a third of `max_iter` if it is below 750.
    late_exaggeration : float >= 1
        Factor by which attraction is multiplied in the last 250 iterations, or in the last third of
        a run of fewer than 750 iterations. The default is 1; larger values contract groups.
    learning_rate : float > 0 or "auto"
        Step size in the unit of scikit-learn, in which the cost is KL(P || Q). Divide a rate of
        openTSNE or FIt-SNE by 4. The default "auto" is n / 4 divided by the exaggeration, where n
        is the number of objects, which corresponds to n / exaggeration in openTSNE (Belkina et al.
        2019). Values above 4n move points far apart and raise a `DataWarning`.

    Attributes
    ----------
    atlas_ : Atlas
        The fitted atlas.
    embedding_ : ndarray of shape (n, n_components)
        Position of each object, `maps_[0]`.
    maps_ : ndarray of shape (1, n, n_components)
        Position of each object in the map.
    kl_divergence_ : float
        KL(P || Q) in nats. For a conditional model, it is the mean over objects; for a joint model,
        it is the sum over all pairs.
    n_iter_ : int
        Number of iterations of the best run.
    converged_ : bool
        Whether the best run ended because the cost stopped decreasing, before `max_iter`.
    history_ : dict of str to ndarray
        Values recorded during the run: "iteration", "cost" and "kl".
    restarts_ : tuple of Restart
        Summary of each run: `seed`, `cost`, `kl_divergence`, `n_iter` and `converged`.
    n_features_in_ : int
        Number of columns of X, or number of objects if X contains associations or neighbours.

    See Also
    --------
    MultipleMapsTSNE, SymmetricSNE, affinity.LocalPerplexity, insert, anndata.tsne

    References
    ----------
    L.J.P. van der Maaten and G.E. Hinton, Visualizing data using t-SNE, JMLR 9, 2008. C. Claassen,
    Improving t-SNE for applications on word embedding data in text mining, 2020. A.C. Belkina et
    al., Automated optimized parameters for t-SNE, Nature Communications 10, 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import TSNE
    >>> corners = np.repeat(np.eye(3), 10, axis=0)
    >>> points = corners + 0.01 * np.random.default_rng(0).normal(size=corners.shape)
    >>> fit = TSNE(perplexity=5, random_state=0).fit(points)
    >>> fit.embedding_.shape, bool(fit.kl_divergence_ < 0.5)
    ((30, 2), True)
    """

    method = "tsne"
    _preset = T_SNE
    _parameter_constraints: ClassVar[Mapping[str, Allowed]] = {
        **_SingleMap._parameter_constraints,
        "early_exaggeration": [Number(least=1)],
        "early_exaggeration_iter": [Whole(0), AUTO],
        "late_exaggeration": [Number(least=1)],
        "learning_rate": [Number(above=0), AUTO],
    }

    early_exaggeration: float = 12.0
    early_exaggeration_iter: int | Literal["auto"] = "auto"
    late_exaggeration: float = 1.0
    learning_rate: float | Literal["auto"] = "auto"
    max_iter: int = 750

    @classmethod
    def claassen_2020(cls, perplexity: float = 35.0) -> Self:
        """Return the estimator with all settings of the thesis for its map of 601 words.

        The map starts from principal components. P averages Gaussian rows and local perplexity
        with a threshold of three standard deviations and at least one neighbour. The program runs
        10,000 iterations at a rate of 200 (on the scale of KL) with gains. The momentum is 0.5 for
        250 iterations and 0.8 afterwards, and P is multiplied by 12 for 250 iterations. (The late
        exaggeration of the program never begins.) The program computes Gaussian rows from
        distances instead of squared distances, which is not part of these settings.

        Parameters
        ----------
        perplexity : float
            Perplexity of the Gaussian rows. The map in the thesis uses 35.

        Returns
        -------
        TSNE
            Estimator with these settings.

        References
        ----------
        C. Claassen, Improving t-SNE for applications on word embedding data in text mining, 2020,
        and the accompanying program (`tsne_main.jl`, `tsne_perplexity.jl`).

        Examples
        --------
        >>> from manymaps import TSNE
        >>> TSNE.claassen_2020().affinity.sd
        3.0
        """
        return cls(
            perplexity=perplexity, init="pca", max_iter=10_000,
            affinity=LocalPerplexity(perplexity, sd=3.0, weight=0.5, min_neighbors=1),
            optimizer=Momentum(
                learning_rate=200.0, averaged=True, momentum=Schedule(((0, 0.5), (250, 0.8))),
                exaggeration=Schedule(((0, 12.0), (250, 1.0))), exact=True,
            ),
        )  # fmt: skip

    def _default_optimizer(self, n_objects: int) -> Optimizer:
        span = min(_EXAGGERATED, self.max_iter // 3)
        early = self.early_exaggeration_iter
        begins = {0: self.early_exaggeration}
        begins[span if early == "auto" else int(early)] = 1.0
        averaged = self.learning_rate != "auto"
        momentum = {0: _MOMENTUM}
        if n_objects >= _MANY_OBJECTS and not averaged:
            momentum[max(begins) + _EXPANDING] = _HIGH_MOMENTUM
        if self.late_exaggeration > 1 and span:
            late = max(max(begins), self.max_iter - span)
            begins[late] = self.late_exaggeration
            momentum = {start: value for start, value in momentum.items() if start < late}
            momentum[late] = _MOMENTUM
        if averaged and float(self.learning_rate) > _STRANGE_RATE * n_objects:
            warnings.warn(
                f"{setting('learning_rate', self.learning_rate)} moves points far apart, because "
                f"there are only {n_objects:,} objects; use at most "
                f'{_STRANGE_RATE * n_objects:,.0f}, or "auto"',
                DataWarning,
                stacklevel=4,
            )
        return Momentum(
            learning_rate=self.learning_rate, momentum=Schedule(tuple(momentum.items())),
            exaggeration=Schedule(tuple(begins.items())), averaged=averaged,
        )  # fmt: skip
