"""One map: stochastic neighbour embedding and its family.

estimator      K             q            background   source
SNE            exp(-d2)      conditional  0            Hinton & Roweis 2002
SymmetricSNE   exp(-d2)      joint        0            Cook, Sutskever, Mnih & Hinton 2007, sec. 2
UniSNE         exp(-d2)      joint        0.2          the same, sec. 2.1
TSNE           1 / (1 + d2)  joint        0            van der Maaten & Hinton 2008

Each is a `ChoiceModel` with its optimizer; the run is `manymaps.maps.run`'s, as for many maps.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from manymaps.constraints import AUTO, Allowed, Number
from manymaps.errors import DataWarning, setting
from manymaps.maps.estimator import MapEstimator
from manymaps.model.choice import CHOICES, SYMMETRIC_SNE, T_SNE, UNI_SNE, ChoiceModel
from manymaps.model.choice import SNE as SNE_MODEL
from manymaps.optimizers.descent import Momentum, Optimizer
from manymaps.optimizers.schedules import Constant, Line, Stages

__all__ = ["SNE", "TSNE", "SymmetricSNE", "UniSNE"]

# van der Maaten (2014).
_EXAGGERATED = 250
# Standard deviation of the first noise in up to two dimensions, and smaller along more axes: noise
# of 1 along each of seven leaves one near pair, which takes all of Z and flies apart.
_JITTER = 1.0
# The rate of Belkina et al. (2019) on the scale of a cost that is summed over rows.
_RATE = 0.25
# At a rate of 2 maps are a little worse than at 1/4; at 5 they are wrecks.
_STRANGE_RATE = 4.0


class _SingleMap(MapEstimator):
    """What the four estimators share."""

    _start_spread = 1e-3

    @property
    def embedding_(self) -> np.ndarray:
        """Positions, shape (n, n_components)."""
        return self.maps_[0]

    @abstractmethod
    def _model(self) -> ChoiceModel:
        """The model that is fitted."""

    def _default_optimizer(self) -> Optimizer:
        return _with_jitter(self.max_iter, self.n_components)


def _with_jitter(iterations: int, n_components: int, **settings: Any) -> Momentum:
    """Momentum with noise that is annealed in two stages over three quarters of the run."""
    end = max(2, 3 * iterations // 4)
    noise = _JITTER * min(1.0, 2 / n_components)
    jitter = Line(((0, noise), (end // 2, noise / 4), (end, 0.0)))
    return _plain(jitter=jitter, **settings)


def _plain(**settings: Any) -> Momentum:
    return Momentum(
        learning_rate=_RATE, momentum=Constant(0.8), exaggeration=Constant(1.0), **settings
    )


class SNE(_SingleMap):
    """Stochastic neighbour embedding: Gaussian neighbours, each object choosing for itself.

    Parameters
    ----------
    n_components : int
        Dimensions of the map.
    perplexity : float or sequence of float
        Effective number of neighbours; several are averaged (multi-scale).
    metric : str or callable
        Distance of vectors, any that scikit-learn knows; "precomputed" where X holds distances.
    affinity : {"auto", "precomputed"} or Affinity
        "auto" makes Gaussian neighbourhoods of `perplexity`; "precomputed" takes X as similarities;
        an `Affinity` such as `LocalPerplexity()` has its own settings.
    neighbors : NeighborSearch, optional
        How neighbours are found, and at what recall.
    init : {"auto", "random", "pca", "mds", "spectral"}, ndarray (n, n_components), or Atlas
        Where to start; "auto" is "pca" for vectors, else "random", which it also is with an
        optimizer that states a `start_spread`. With `pin`, "auto" is beside the partners and
        "random" inside the extent of the pins.
    pin : Atlas, mapping of labels to positions, or ndarray (n, n_components), optional
        What is held where it is while the rest is arranged around it: the objects of an atlas that
        are fitted too, matched by label (`atlas.subset` holds fewer), those that a mapping names,
        or all in an array but for NaN. A position may be NaN along one axis and held along the
        other. Not a bit of them changes, in single precision; the column "pinned" of `atlas_` says
        whose. Positions count in widths of the kernel: hundreds of objects span tens of them.
        `insert` places new objects in an atlas one by one and is faster; pins let them see one
        another, share the room that there is, and form groups that the atlas has not.
    n_init : int
        Runs of which the one of the least cost is kept; those after the first start at random.
    max_iter : int
        Most iterations of a run; fewer where the cost stops falling.
    optimizer : Optimizer, optional
        By default `Momentum` with jitter that is annealed in two stages over three quarters of the
        run (Hinton & Roweis 2002).
    tolerance : float in [0, 0.1]
        Aimed relative error of the repulsive forces; 0 sums them exactly.
    callback : callable, optional
        Called as callback(iteration, cost, atlas_so_far) after each iteration; `atlas_so_far()`
        makes an `Atlas`. A true answer stops the fit.
    random_state : int, RandomState or None
        The same seed gives the same bits at any number of threads on one machine. None draws a
        number from NumPy's global state, once, and a `RandomState` from itself: the fit is that of
        this number.
    n_jobs : int, optional
        Threads for this fit; None keeps the present number, -1 takes all.
    verbose : bool
        Whether to show how far the fit is: on a terminal or in a notebook a bar, elsewhere a line a
        minute. See `show_progress`.

    Attributes
    ----------
    atlas_ : Atlas
    embedding_ : ndarray of shape (n, n_components)
    maps_ : ndarray of shape (1, n, n_components)
    kl_divergence_ : float
        Per object for a conditional model, over all pairs for a joint one.
    n_iter_ : int
    converged_ : bool
    history_ : dict of str to ndarray
    restarts_ : tuple of Restart
        How each run ended: `seed`, `cost`, `kl_divergence`, `n_iter` and `converged`.
    n_features_in_ : int

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

    def _model(self) -> ChoiceModel:
        return SNE_MODEL


class SymmetricSNE(_SingleMap):
    """Symmetric SNE: Gaussian neighbours, one choice among all pairs.

    P is the average of the conditional neighbourhoods, or with `affinity=GlobalGaussian()` the
    table of one bandwidth of eq. 4.

    Parameters
    ----------
    n_components : int
        Dimensions of the map.
    perplexity : float or sequence of float
        Effective number of neighbours; several are averaged (multi-scale).
    metric : str or callable
        Distance of vectors, any that scikit-learn knows; "precomputed" where X holds distances.
    affinity : {"auto", "precomputed"} or Affinity
        "auto" makes Gaussian neighbourhoods of `perplexity`; "precomputed" takes X as similarities;
        an `Affinity` such as `LocalPerplexity()` has its own settings.
    neighbors : NeighborSearch, optional
        How neighbours are found, and at what recall.
    init : {"auto", "random", "pca", "mds", "spectral"}, ndarray (n, n_components), or Atlas
        Where to start; "auto" is "pca" for vectors, else "random", which it also is with an
        optimizer that states a `start_spread`. With `pin`, "auto" is beside the partners and
        "random" inside the extent of the pins.
    pin : Atlas, mapping of labels to positions, or ndarray (n, n_components), optional
        What is held where it is while the rest is arranged around it: the objects of an atlas that
        are fitted too, matched by label (`atlas.subset` holds fewer), those that a mapping names,
        or all in an array but for NaN. A position may be NaN along one axis and held along the
        other. Not a bit of them changes, in single precision; the column "pinned" of `atlas_` says
        whose. Positions count in widths of the kernel: hundreds of objects span tens of them.
        `insert` places new objects in an atlas one by one and is faster; pins let them see one
        another, share the room that there is, and form groups that the atlas has not.
    n_init : int
        Runs of which the one of the least cost is kept; those after the first start at random.
    max_iter : int
        Most iterations of a run; fewer where the cost stops falling.
    optimizer : Optimizer, optional
        By default `Momentum` with jitter that is annealed in two stages over three quarters of the
        run (Hinton & Roweis 2002).
    tolerance : float in [0, 0.1]
        Aimed relative error of the repulsive forces; 0 sums them exactly.
    callback : callable, optional
        Called as callback(iteration, cost, atlas_so_far) after each iteration; `atlas_so_far()`
        makes an `Atlas`. A true answer stops the fit.
    random_state : int, RandomState or None
        The same seed gives the same bits at any number of threads on one machine. None draws a
        number from NumPy's global state, once, and a `RandomState` from itself: the fit is that of
        this number.
    n_jobs : int, optional
        Threads for this fit; None keeps the present number, -1 takes all.
    verbose : bool
        Whether to show how far the fit is: on a terminal or in a notebook a bar, elsewhere a line a
        minute. See `show_progress`.

    Attributes
    ----------
    atlas_ : Atlas
    embedding_ : ndarray of shape (n, n_components)
    maps_ : ndarray of shape (1, n, n_components)
    kl_divergence_ : float
        Per object for a conditional model, over all pairs for a joint one.
    n_iter_ : int
    converged_ : bool
    history_ : dict of str to ndarray
    restarts_ : tuple of Restart
        How each run ended: `seed`, `cost`, `kl_divergence`, `n_iter` and `converged`.
    n_features_in_ : int

    See Also
    --------
    SNE, UniSNE, TSNE, GlobalGaussian

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

    def _model(self) -> ChoiceModel:
        return SYMMETRIC_SNE


@dataclass(eq=False, repr=False, kw_only=True)
class UniSNE(_SingleMap):
    """UNI-SNE: symmetric SNE with a uniform background, which lets dissimilar groups part.

        q_ij = (1 - background) K_ij / Z + background / (n (n - 1))

    Parameters
    ----------
    n_components : int
        Dimensions of the map.
    perplexity : float or sequence of float
        Effective number of neighbours; several are averaged (multi-scale).
    metric : str or callable
        Distance of vectors, any that scikit-learn knows; "precomputed" where X holds distances.
    affinity : {"auto", "precomputed"} or Affinity
        "auto" makes Gaussian neighbourhoods of `perplexity`; "precomputed" takes X as similarities;
        an `Affinity` such as `LocalPerplexity()` has its own settings.
    neighbors : NeighborSearch, optional
        How neighbours are found, and at what recall.
    init : {"auto", "random", "pca", "mds", "spectral"}, ndarray (n, n_components), or Atlas
        Where to start; "auto" is "pca" for vectors, else "random", which it also is with an
        optimizer that states a `start_spread`. With `pin`, "auto" is beside the partners and
        "random" inside the extent of the pins.
    pin : Atlas, mapping of labels to positions, or ndarray (n, n_components), optional
        What is held where it is while the rest is arranged around it: the objects of an atlas that
        are fitted too, matched by label (`atlas.subset` holds fewer), those that a mapping names,
        or all in an array but for NaN. A position may be NaN along one axis and held along the
        other. Not a bit of them changes, in single precision; the column "pinned" of `atlas_` says
        whose. Positions count in widths of the kernel: hundreds of objects span tens of them.
        `insert` places new objects in an atlas one by one and is faster; pins let them see one
        another, share the room that there is, and form groups that the atlas has not.
    n_init : int
        Runs of which the one of the least cost is kept; those after the first start at random.
    max_iter : int
        Most iterations of a run; fewer where the cost stops falling.
    optimizer : Optimizer, optional
        The default first goes without background for two fifths of the run, to a solution of
        symmetric SNE, as in the paper; with all of it from the beginning, distant pairs would
        hardly attract one another. Then the background rises to its whole over a third of the run,
        which ends lower than a sudden one. Where `init` is an array or an `Atlas` (of
        `SymmetricSNE`, say), and with `pin`, the run begins with that rise, over half of it.
    tolerance : float in [0, 0.1]
        Aimed relative error of the repulsive forces; 0 sums them exactly.
    callback : callable, optional
        Called as callback(iteration, cost, atlas_so_far) after each iteration; `atlas_so_far()`
        makes an `Atlas`. A true answer stops the fit.
    random_state : int, RandomState or None
        The same seed gives the same bits at any number of threads on one machine. None draws a
        number from NumPy's global state, once, and a `RandomState` from itself: the fit is that of
        this number.
    n_jobs : int, optional
        Threads for this fit; None keeps the present number, -1 takes all.
    verbose : bool
        Whether to show how far the fit is: on a terminal or in a notebook a bar, elsewhere a line a
        minute. See `show_progress`.
    background : float in [0, 1)
        Share of similarity spread evenly over all pairs.

    Attributes
    ----------
    atlas_ : Atlas
    embedding_ : ndarray of shape (n, n_components)
    maps_ : ndarray of shape (1, n, n_components)
    kl_divergence_ : float
        Per object for a conditional model, over all pairs for a joint one.
    n_iter_ : int
    converged_ : bool
    history_ : dict of str to ndarray
    restarts_ : tuple of Restart
        How each run ended: `seed`, `cost`, `kl_divergence`, `n_iter` and `converged`.
    n_features_in_ : int

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
    _parameter_constraints: ClassVar[Mapping[str, Allowed]] = {
        **_SingleMap._parameter_constraints,
        "background": CHOICES["background"],
    }

    background: float = 0.2
    max_iter: int = 2500

    def _model(self) -> ChoiceModel:
        return replace(UNI_SNE, background=self.background)

    def _default_optimizer(self) -> Optimizer:
        rise = max(1, self.max_iter // 3)
        if not isinstance(self.init, str) or self.pin is not None:
            half = max(1, self.max_iter // 2)
            return _plain(background_share=Line(((0, 0.0), (half, 1.0))))
        without = max(1, 2 * self.max_iter // 5)
        share = Line(((0, 0.0), (without, 0.0), (without + rise, 1.0)))
        return _with_jitter(without, self.n_components, background_share=share)


@dataclass(eq=False, repr=False, kw_only=True)
class TSNE(_SingleMap):
    """t-SNE, with early and late exaggeration.

    Parameters
    ----------
    n_components : int
        Dimensions of the map.
    perplexity : float or sequence of float
        Effective number of neighbours; several are averaged (multi-scale).
    metric : str or callable
        Distance of vectors, any that scikit-learn knows; "precomputed" where X holds distances.
    affinity : {"auto", "precomputed"} or Affinity
        "auto" makes Gaussian neighbourhoods of `perplexity`; "precomputed" takes X as similarities;
        an `Affinity` such as `LocalPerplexity()` has its own settings.
    neighbors : NeighborSearch, optional
        How neighbours are found, and at what recall.
    init : {"auto", "random", "pca", "mds", "spectral"}, ndarray (n, n_components), or Atlas
        Where to start; "auto" is "pca" for vectors, else "random", which it also is with an
        optimizer that states a `start_spread`. With `pin`, "auto" is beside the partners and
        "random" inside the extent of the pins.
    pin : Atlas, mapping of labels to positions, or ndarray (n, n_components), optional
        What is held where it is while the rest is arranged around it: the objects of an atlas that
        are fitted too, matched by label (`atlas.subset` holds fewer), those that a mapping names,
        or all in an array but for NaN. A position may be NaN along one axis and held along the
        other. Not a bit of them changes, in single precision; the column "pinned" of `atlas_` says
        whose. Positions count in widths of the kernel: hundreds of objects span tens of them.
        `insert` places new objects in an atlas one by one and is faster; pins let them see one
        another, share the room that there is, and form groups that the atlas has not.
    n_init : int
        Runs of which the one of the least cost is kept; those after the first start at random.
    max_iter : int
        Most iterations of a run; fewer where the cost stops falling.
    optimizer : Optimizer, optional
        In place of `Momentum` with the settings above; momentum is 0.8 throughout.
    tolerance : float in [0, 0.1]
        Aimed relative error of the repulsive forces; 0 sums them exactly.
    callback : callable, optional
        Called as callback(iteration, cost, atlas_so_far) after each iteration; `atlas_so_far()`
        makes an `Atlas`. A true answer stops the fit.
    random_state : int, RandomState or None
        The same seed gives the same bits at any number of threads on one machine. None draws a
        number from NumPy's global state, once, and a `RandomState` from itself: the fit is that of
        this number.
    n_jobs : int, optional
        Threads for this fit; None keeps the present number, -1 takes all.
    verbose : bool
        Whether to show how far the fit is: on a terminal or in a notebook a bar, elsewhere a line a
        minute. See `show_progress`.
    early_exaggeration : float >= 1
        Factor of the attraction in the first 250 iterations (a third of a run shorter than 750).
    late_exaggeration : float >= 1
        Factor of the attraction in the last 250 iterations (or third), which draws groups together;
        1 is none.
    learning_rate : float > 0 or "auto"
        Step size on the scale of the cost summed over n objects: a rate of scikit-learn divided by
        n, or a rate of openTSNE or FIt-SNE divided by 4n. The default "auto" is 1/4 divided by the
        exaggeration, which is n / exaggeration in openTSNE (Belkina et al. 2019). Values above 4
        throw points far apart and raise a `DataWarning`.

    Attributes
    ----------
    atlas_ : Atlas
    embedding_ : ndarray of shape (n, n_components)
    maps_ : ndarray of shape (1, n, n_components)
    kl_divergence_ : float
        Per object for a conditional model, over all pairs for a joint one.
    n_iter_ : int
    converged_ : bool
    history_ : dict of str to ndarray
    restarts_ : tuple of Restart
        How each run ended: `seed`, `cost`, `kl_divergence`, `n_iter` and `converged`.
    n_features_in_ : int

    See Also
    --------
    MultipleMapsTSNE, SymmetricSNE, LocalPerplexity, insert, anndata.tsne

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
    _parameter_constraints: ClassVar[Mapping[str, Allowed]] = {
        **_SingleMap._parameter_constraints,
        "early_exaggeration": [Number(least=1)],
        "late_exaggeration": [Number(least=1)],
        "learning_rate": [Number(above=0), AUTO],
    }

    early_exaggeration: float = 12.0
    late_exaggeration: float = 1.0
    learning_rate: float | Literal["auto"] = "auto"
    max_iter: int = 750

    def _model(self) -> ChoiceModel:
        return T_SNE

    def _default_optimizer(self) -> Optimizer:
        span = min(_EXAGGERATED, self.max_iter // 3)
        stages = [(0, self.early_exaggeration), (span, 1.0)]
        if self.late_exaggeration > 1:
            stages.append((self.max_iter - span, self.late_exaggeration))
        exaggeration = Stages(tuple(stages)) if span else Constant(1.0)
        if self.learning_rate != "auto" and self.learning_rate > _STRANGE_RATE:
            warnings.warn(
                f"{setting('learning_rate', self.learning_rate)} throws points far apart: "
                "it is on the scale of the sum over n objects; divide a rate of scikit-learn by n, "
                'or one of openTSNE by 4n, or leave it at "auto"',
                DataWarning,
                stacklevel=4,
            )
        return Momentum(
            learning_rate=self.learning_rate, momentum=Constant(0.8), exaggeration=exaggeration
        )
