"""Multiple maps: each object has a point and a mixing proportion in each of several maps.

q_j|i = v_ij / sum_k v_ik,     v_ij = sum_m pi_i^m pi_j^m K(|y_i^m - y_j^m|^2)

fitted by KL(P || Q), or by the inverse divergence of the discussion of the 2009 report
(`manymaps.model.inverse`).

estimator          K             source
MultipleMapsSNE    exp(-d2)      van der Maaten & Hinton 2009, section 3
MultipleMapsTSNE   1 / (1 + d2)  the same, section 3.1 (conditional); van der Maaten & Hinton
                                 2012 (joint)
AspectMaps         exp(-d2)      Cook, Sutskever, Mnih & Hinton 2007, with their size penalty
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, get_args

import numpy as np

from manymaps.atlas.atlas import Atlas
from manymaps.constraints import N_MAPS, Allowed, Choice, Number
from manymaps.errors import DataWarning, ParameterError, setting
from manymaps.maps.estimator import MapEstimator
from manymaps.model.choice import (
    CHOICES,
    MULTIPLE_MAPS_SNE,
    MULTIPLE_MAPS_T_SNE,
    ChoiceModel,
    Mixing,
    Normalization,
)
from manymaps.model.cost import Cost
from manymaps.model.inverse import SMOOTHING, InverseObjective, predicted_seconds
from manymaps.model.objective import Objective
from manymaps.model.observed import ObservedObjective
from manymaps.optimizers.descent import ConjugateGradient, Momentum, Optimizer

__all__ = ["AspectMaps", "MultipleMapsSNE", "MultipleMapsTSNE"]

Divergence = Literal["forward", "inverse"]

# Seconds after which a fit warns before it starts, and refuses: nobody waits a day by choice.
_LONG, _TOO_LONG = 3600.0, 86_400.0


@dataclass(eq=False, repr=False, kw_only=True)
class _MultipleMaps(MapEstimator):
    """The parameters and the model that the three estimators share."""

    _preset: ClassVar[ChoiceModel]
    _parameter_constraints: ClassVar[Mapping[str, Allowed]] = {
        **MapEstimator._parameter_constraints,
        "normalization": CHOICES["normalization"],
        "mixing": CHOICES["mixing"],
        "background": CHOICES["background"],
        "kernel_width": CHOICES["kernel_width"],
        "n_maps": N_MAPS,
        "divergence": [Choice(get_args(Divergence))],
        "smoothing": SMOOTHING,
        "penalty": [Number(least=0)],
    }

    n_maps: int = field(default=40, kw_only=False)
    normalization: Normalization = "conditional"
    mixing: Mixing = "learned"
    background: float = 0.0
    divergence: Divergence = "forward"
    smoothing: float = 0.01
    penalty: float = 0.001
    kernel_width: float = 1.0
    max_iter: int = 2000

    def _model(self) -> ChoiceModel:
        return replace(
            self._preset,
            normalization=self.normalization,
            mixing=self.mixing,
            background=self.background,
            kernel_width=self.kernel_width,
        )

    @property
    def divergence_(self) -> float:
        """What was minimized, without the penalty: KL(P || Q), or KL(Q || P~) if "inverse"."""
        return float(self.history_["kl"][-1])

    def _validate_params(self) -> None:
        super()._validate_params()
        if self.divergence == "inverse" and self.background != 0:
            raise ParameterError(
                f"goes without a background, not with {self.background!r}; the smoothing does for "
                "P what a background does for Q",
                name="divergence",
                value=self.divergence,
            )

    def _objective(self, forward: Objective | ObservedObjective) -> Cost:
        if self.divergence == "forward":
            return forward
        if isinstance(forward, ObservedObjective):
            raise ParameterError(
                "sums over all pairs, and some cells are missing; fill them, or take the forward "
                "divergence",
                name="divergence",
                value=self.divergence,
            )
        self._check_duration(forward.target.values.shape[0])
        return InverseObjective(forward, self.smoothing)

    def _check_duration(self, n: int) -> None:
        """Say before the start if sums over all pairs would take long; refuse days."""
        seconds = self.max_iter * predicted_seconds(n, self.n_maps, self._model().kernel)
        if seconds < _LONG:
            return
        message = (
            f"{setting('divergence', 'inverse')} sums over all pairs of {n:,} objects in up "
            f"to {self.n_maps} "
            f"maps: {self.max_iter:,} iterations can take {seconds / 3600:,.1f} hours of one "
            "processor; fewer objects, maps or iterations (max_iter) take less, and the forward "
            "divergence minutes"
        )
        if seconds > _TOO_LONG:
            raise ParameterError(message)
        warnings.warn(message, DataWarning, stacklevel=4)

    def _default_optimizer(self) -> Optimizer:
        return Momentum(hold_weights=min(Momentum.hold_weights, self.max_iter // 4))


class MultipleMapsTSNE(_MultipleMaps):
    """Multiple maps t-SNE: many maps under a heavy-tailed kernel.

    Parameters
    ----------
    n_maps : int from 1 to 4,096
        Number of maps, at most the number of objects.
    n_components : int
        Dimensions of each map.
    penalty : float >= 0
        Size penalty `(penalty / 2) sum |y|^2` on the cost summed over objects. A small one keeps
        unrelated groups from drifting apart for ever, so that what belongs together is still among
        the nearest dots of a drawing; 0 fits the data closest, 0.01 draws the tightest maps.
    perplexity : float or sequence of float
        Effective number of neighbours, where X holds vectors; several are averaged (multi-scale).
    metric : str or callable
        Distance of vectors, any that scikit-learn knows; "precomputed" where X holds distances. It
        says nothing of similarities.
    affinity : {"auto", "precomputed"} or Affinity
        "auto" makes Gaussian neighbourhoods of vectors by `perplexity`; "precomputed" takes X as
        similarities; an `Affinity` such as `LocalPerplexity()` has its own settings.
    neighbors : NeighborSearch, optional
        How neighbours of vectors are found, and at what recall.
    init : {"auto", "personas", "random"}, ndarray of shape (n_maps, n, n_components), or Atlas
        Where to start; an atlas gives the proportions too. "personas" splits each object by its
        groups of neighbours and deals them to maps by theme (`manymaps.maps.personas`); "auto" is
        that for several maps of 100 objects or more. "random" puts every object in every map, as
        the papers do, and is "auto" for fewer: they say little of groups, and starts from several
        seeds cost little. One map may also start as that of `TSNE` does, and "auto" is that. With
        an optimizer that states a `start_spread`, as the papers' presets do, "auto" is "random".
        With `pin`, "auto" is beside the partners and "random" inside the extent of the pins.
    pin : Atlas, mapping of labels to positions, or ndarray of shape (n_maps, n, n_components)
        What is held where it is while the rest is arranged around it, as for `TSNE`. An atlas holds
        the proportions of its objects too, and its maps keep their numbers: where the fit has
        more, the further ones belong to the free objects alone. Positions that are given otherwise
        leave the proportions free; those of a mapping have shape (n_maps, n_components), NaN in
        maps where the object has no place of its own.
    n_init : int
        Runs from starts of their own, of which the one of the least cost is kept. Small tables end
        in one of many hollows: some seeds at twice the divergence of others.
    max_iter : int
        Most iterations of a run; fewer where the cost stops falling.
    optimizer : Optimizer, optional
        `Momentum()` by default, near the settings of the 2009 report; in a run of fewer than 400
        iterations it holds the weights for a quarter of them. The papers' own are
        `Momentum.van_der_maaten_2009()` and, with normalization="joint", `van_der_maaten_2012()`;
        both go with penalty=0.
    tolerance : float in [0, 0.1]
        Aimed relative error of the repulsive forces; 0 sums them exactly, as the inverse divergence
        always does.
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
    normalization : {"conditional", "joint"}
        As in the 2009 report, one choice per object (shows asymmetry), or as in the 2012 paper.
    mixing : {"learned", "fixed"}
        Whether the mixing proportions are fitted or stay where they start (equal, by default).
    background : float in [0, 1)
        Share of the similarity that is spread evenly over all pairs.
    divergence : {"forward", "inverse"}
        What is minimized: KL(P || Q), which forbids to hold related objects apart, or KL(Q || P~),
        which forbids to put unrelated ones together. The inverse sums over all pairs: 1,000
        objects in 10 maps take 0.02 s an iteration, 5,000 in 40 maps 2 s at first and less once
        most objects have left most maps.
    smoothing : float in (0, 1)
        Share of P~ that is spread evenly over all pairs; used by the inverse divergence alone.
        The less, the more it costs to put two objects together that the data does not relate.
    kernel_width : float from 1e-15 to 1e15
        Distances are divided by it.

    Attributes
    ----------
    atlas_ : Atlas
        Its maps are numbered so that neighbouring numbers are alike (`manymaps.maps.map_order`);
        after a start from an array or an atlas they keep the numbers of the start, and with pins
        those of the pins.
    maps_ : ndarray of shape (n_maps, n, n_components)
    proportions_ : ndarray of shape (n_maps, n)
    kl_divergence_ : float
        KL(P || Q), whichever divergence was minimized, so that fits can be compared. Without the
        penalty; per object with mass for a conditional model.
    divergence_ : float
        The divergence that was minimized, likewise: KL(Q || P~) for an inverse one.
    n_iter_ : int
    converged_ : bool
    history_ : dict of str to ndarray
        "iteration", "cost" and "kl", the divergence that is minimized.
    restarts_ : tuple of Restart
        How each run ended: `seed`, `cost`, `kl_divergence`, `n_iter` and `converged`. An estimator
        with that seed as `random_state` makes the run alone.
    n_features_in_ : int

    See Also
    --------
    MultipleMapsSNE, AspectMaps, TSNE, insert, evaluate, sweep

    References
    ----------
    L.J.P. van der Maaten and G.E. Hinton, Modeling semantic similarities in multiple maps, TiCC TR
    2009-001; Visualizing non-metric similarities in multiple maps, Machine Learning 87, 2012.

    Examples
    --------
    >>> from manymaps import Associations, MultipleMapsTSNE
    >>> from scipy import sparse
    >>> words = ["tie", "knot", "rope", "tuxedo", "suit"]
    >>> table = sparse.dok_array((5, 5))
    >>> for i, j in [(0, 1), (0, 2), (1, 2), (0, 3), (0, 4), (3, 4)]:
    ...     table[i, j] = table[j, i] = 1.0
    >>> norms = Associations(words, sparse.csr_array(table))
    >>> fit = MultipleMapsTSNE(n_maps=2, penalty=0, random_state=0).fit(norms)
    >>> fit.maps_.shape, bool(fit.kl_divergence_ < 0.05)
    ((2, 5, 2), True)
    """

    method = "mm-tsne"
    _preset = MULTIPLE_MAPS_T_SNE


@dataclass(eq=False, repr=False, kw_only=True)
class MultipleMapsSNE(_MultipleMaps):
    """Multiple maps SNE: many maps under a Gaussian kernel.

    The penalty is 0.01 by default: under a kernel without heavy tails maps spread less and split
    more.

    Parameters
    ----------
    n_maps : int from 1 to 4,096
        Number of maps, at most the number of objects.
    n_components : int
        Dimensions of each map.
    penalty : float >= 0
        Size penalty `(penalty / 2) sum |y|^2` on the cost summed over objects. A small one keeps
        unrelated groups from drifting apart for ever, so that what belongs together is still among
        the nearest dots of a drawing; 0 fits the data closest, 0.01 draws the tightest maps.
    perplexity : float or sequence of float
        Effective number of neighbours, where X holds vectors; several are averaged (multi-scale).
    metric : str or callable
        Distance of vectors, any that scikit-learn knows; "precomputed" where X holds distances. It
        says nothing of similarities.
    affinity : {"auto", "precomputed"} or Affinity
        "auto" makes Gaussian neighbourhoods of vectors by `perplexity`; "precomputed" takes X as
        similarities; an `Affinity` such as `LocalPerplexity()` has its own settings.
    neighbors : NeighborSearch, optional
        How neighbours of vectors are found, and at what recall.
    init : {"auto", "personas", "random"}, ndarray of shape (n_maps, n, n_components), or Atlas
        Where to start; an atlas gives the proportions too. "personas" splits each object by its
        groups of neighbours and deals them to maps by theme (`manymaps.maps.personas`); "auto" is
        that for several maps of 100 objects or more. "random" puts every object in every map, as
        the papers do, and is "auto" for fewer: they say little of groups, and starts from several
        seeds cost little. One map may also start as that of `TSNE` does, and "auto" is that. With
        an optimizer that states a `start_spread`, as the papers' presets do, "auto" is "random".
        With `pin`, "auto" is beside the partners and "random" inside the extent of the pins.
    pin : Atlas, mapping of labels to positions, or ndarray of shape (n_maps, n, n_components)
        What is held where it is while the rest is arranged around it, as for `TSNE`. An atlas holds
        the proportions of its objects too, and its maps keep their numbers: where the fit has
        more, the further ones belong to the free objects alone. Positions that are given otherwise
        leave the proportions free; those of a mapping have shape (n_maps, n_components), NaN in
        maps where the object has no place of its own.
    n_init : int
        Runs from starts of their own, of which the one of the least cost is kept. Small tables end
        in one of many hollows: some seeds at twice the divergence of others.
    max_iter : int
        Most iterations of a run; fewer where the cost stops falling.
    optimizer : Optimizer, optional
        `Momentum()` by default, near the settings of the 2009 report; in a run of fewer than 400
        iterations it holds the weights for a quarter of them. The papers' own are
        `Momentum.van_der_maaten_2009()` and, with normalization="joint", `van_der_maaten_2012()`;
        both go with penalty=0.
    tolerance : float in [0, 0.1]
        Aimed relative error of the repulsive forces; 0 sums them exactly, as the inverse divergence
        always does.
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
    normalization : {"conditional", "joint"}
        As in the 2009 report, one choice per object (shows asymmetry), or as in the 2012 paper.
    mixing : {"learned", "fixed"}
        Whether the mixing proportions are fitted or stay where they start (equal, by default).
    background : float in [0, 1)
        Share of the similarity that is spread evenly over all pairs.
    divergence : {"forward", "inverse"}
        What is minimized: KL(P || Q), which forbids to hold related objects apart, or KL(Q || P~),
        which forbids to put unrelated ones together. The inverse sums over all pairs: 1,000
        objects in 10 maps take 0.02 s an iteration, 5,000 in 40 maps 2 s at first and less once
        most objects have left most maps.
    smoothing : float in (0, 1)
        Share of P~ that is spread evenly over all pairs; used by the inverse divergence alone.
        The less, the more it costs to put two objects together that the data does not relate.
    kernel_width : float from 1e-15 to 1e15
        Distances are divided by it.

    Attributes
    ----------
    atlas_ : Atlas
        Its maps are numbered so that neighbouring numbers are alike (`manymaps.maps.map_order`);
        after a start from an array or an atlas they keep the numbers of the start, and with pins
        those of the pins.
    maps_ : ndarray of shape (n_maps, n, n_components)
    proportions_ : ndarray of shape (n_maps, n)
    kl_divergence_ : float
        KL(P || Q), whichever divergence was minimized, so that fits can be compared. Without the
        penalty; per object with mass for a conditional model.
    divergence_ : float
        The divergence that was minimized, likewise: KL(Q || P~) for an inverse one.
    n_iter_ : int
    converged_ : bool
    history_ : dict of str to ndarray
        "iteration", "cost" and "kl", the divergence that is minimized.
    restarts_ : tuple of Restart
        How each run ended: `seed`, `cost`, `kl_divergence`, `n_iter` and `converged`. An estimator
        with that seed as `random_state` makes the run alone.
    n_features_in_ : int

    See Also
    --------
    MultipleMapsTSNE, AspectMaps, SNE

    References
    ----------
    L.J.P. van der Maaten and G.E. Hinton, Modeling semantic similarities in multiple maps, TiCC TR
    2009-001, section 3.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import MultipleMapsSNE
    >>> ring = np.roll(np.eye(6), 1, axis=1) + np.roll(np.eye(6), -1, axis=1)
    >>> fit = MultipleMapsSNE(n_maps=1, affinity="precomputed", random_state=0).fit(ring)
    >>> fit.proportions_.tolist()
    [[1.0, 1.0, 1.0, 1.0, 1.0, 1.0]]
    """

    method = "mm-sne"
    _preset = MULTIPLE_MAPS_SNE

    penalty: float = 0.01


@dataclass(eq=False, repr=False, kw_only=True)
class AspectMaps(_MultipleMaps):
    """Aspect maps: many small Gaussian maps under a size penalty, fitted by conjugate gradients.

    The defaults are those of the paper: 50 maps and a penalty of 0.48.

    Parameters
    ----------
    n_maps : int from 1 to 4,096
        Number of maps, at most the number of objects.
    n_components : int
        Dimensions of each map.
    penalty : float >= 0
        Size penalty `(penalty / 2) sum |y|^2` on the cost summed over objects. A small one keeps
        unrelated groups from drifting apart for ever, so that what belongs together is still among
        the nearest dots of a drawing; 0 fits the data closest, 0.01 draws the tightest maps.
    perplexity : float or sequence of float
        Effective number of neighbours, where X holds vectors; several are averaged (multi-scale).
    metric : str or callable
        Distance of vectors, any that scikit-learn knows; "precomputed" where X holds distances. It
        says nothing of similarities.
    affinity : {"auto", "precomputed"} or Affinity
        "auto" makes Gaussian neighbourhoods of vectors by `perplexity`; "precomputed" takes X as
        similarities; an `Affinity` such as `LocalPerplexity()` has its own settings.
    neighbors : NeighborSearch, optional
        How neighbours of vectors are found, and at what recall.
    init : {"auto", "personas", "random"}, ndarray of shape (n_maps, n, n_components), or Atlas
        Where to start; an atlas gives the proportions too. "personas" splits each object by its
        groups of neighbours and deals them to maps by theme (`manymaps.maps.personas`); "auto" is
        that for several maps of 100 objects or more. "random" puts every object in every map, as
        the papers do, and is "auto" for fewer: they say little of groups, and starts from several
        seeds cost little. One map may also start as that of `TSNE` does, and "auto" is that. With
        an optimizer that states a `start_spread`, as the papers' presets do, "auto" is "random".
        With `pin`, "auto" is beside the partners and "random" inside the extent of the pins.
    pin : Atlas, mapping of labels to positions, or ndarray of shape (n_maps, n, n_components)
        What is held where it is while the rest is arranged around it, as for `TSNE`. An atlas holds
        the proportions of its objects too, and its maps keep their numbers: where the fit has
        more, the further ones belong to the free objects alone. Positions that are given otherwise
        leave the proportions free; those of a mapping have shape (n_maps, n_components), NaN in
        maps where the object has no place of its own.
    n_init : int
        Runs from starts of their own, of which the one of the least cost is kept. Small tables end
        in one of many hollows: some seeds at twice the divergence of others.
    max_iter : int
        Most iterations of a run; fewer where the cost stops falling.
    optimizer : Optimizer, optional
        `ConjugateGradient()` by default.
    tolerance : float in [0, 0.1]
        Aimed relative error of the repulsive forces; 0 sums them exactly, as the inverse divergence
        always does.
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
    normalization : {"conditional", "joint"}
        As in the 2009 report, one choice per object (shows asymmetry), or as in the 2012 paper.
    mixing : {"learned", "fixed"}
        Whether the mixing proportions are fitted or stay where they start (equal, by default).
    background : float in [0, 1)
        Share of the similarity that is spread evenly over all pairs.
    divergence : {"forward", "inverse"}
        What is minimized: KL(P || Q), which forbids to hold related objects apart, or KL(Q || P~),
        which forbids to put unrelated ones together. The inverse sums over all pairs: 1,000
        objects in 10 maps take 0.02 s an iteration, 5,000 in 40 maps 2 s at first and less once
        most objects have left most maps.
    smoothing : float in (0, 1)
        Share of P~ that is spread evenly over all pairs; used by the inverse divergence alone.
        The less, the more it costs to put two objects together that the data does not relate.
    kernel_width : float from 1e-15 to 1e15
        Distances are divided by it.

    Attributes
    ----------
    atlas_ : Atlas
        Its maps are numbered so that neighbouring numbers are alike (`manymaps.maps.map_order`);
        after a start from an array or an atlas they keep the numbers of the start, and with pins
        those of the pins.
    maps_ : ndarray of shape (n_maps, n, n_components)
    proportions_ : ndarray of shape (n_maps, n)
    kl_divergence_ : float
        KL(P || Q), whichever divergence was minimized, so that fits can be compared. Without the
        penalty; per object with mass for a conditional model.
    divergence_ : float
        The divergence that was minimized, likewise: KL(Q || P~) for an inverse one.
    n_iter_ : int
    converged_ : bool
    history_ : dict of str to ndarray
        "iteration", "cost" and "kl", the divergence that is minimized.
    restarts_ : tuple of Restart
        How each run ended: `seed`, `cost`, `kl_divergence`, `n_iter` and `converged`. An estimator
        with that seed as `random_state` makes the run alone.
    n_features_in_ : int

    See Also
    --------
    MultipleMapsTSNE, MultipleMapsSNE, ConjugateGradient

    References
    ----------
    J.A. Cook, I. Sutskever, A. Mnih and G.E. Hinton, Visualizing similarity data with a mixture of
    maps, AISTATS 2007, sections 3 to 5.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import AspectMaps
    >>> similarities = np.kron(np.eye(3), np.ones((4, 4)))
    >>> fit = AspectMaps(n_maps=3, affinity="precomputed", random_state=0).fit(similarities)
    >>> fit.atlas_.method
    'aspect-maps'
    """

    method = "aspect-maps"
    _preset = MULTIPLE_MAPS_SNE

    n_maps: int = field(default=50, kw_only=False)
    penalty: float = 0.48
    init: str | np.ndarray | Atlas = "random"

    def _default_optimizer(self) -> Optimizer:
        return ConjugateGradient()
