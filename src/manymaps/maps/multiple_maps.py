"""Multiple maps: each object has a point and a mixing proportion in each of several maps.

q_j|i = v_ij / sum_k v_ik,     v_ij = sum_m pi_i^m pi_j^m K(|y_i^m - y_j^m|^2)

The maps are fitted by minimizing KL(P || Q).

estimator          K             source
MultipleMapsSNE    exp(-d2)      van der Maaten & Hinton 2009, section 3
MultipleMapsTSNE   1 / (1 + d2)  the same, section 3.1 (conditional); van der Maaten & Hinton
                                 2012 (joint)
AspectMaps         exp(-d2)      Cook, Sutskever, Mnih & Hinton 2007, with their size penalty

With marginals, fixed factors multiply the similarities, as in CODE (Globerson et al. 2004, eq. 1):

q_j|i = p(j) v_ij / sum_k p(k) v_ik,     p(j) ~ sum_i p_ij
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from inspect import cleandoc
from typing import Any, ClassVar, Self

import numpy as np

from manymaps.atlas.atlas import Atlas
from manymaps.constraints import FLAG, N_MAPS, Allowed, Number
from manymaps.errors import DataWarning, ParameterError, setting
from manymaps.labels import in_words
from manymaps.maps.estimator import MapEstimator
from manymaps.model.choice import (
    CHOICES,
    MULTIPLE_MAPS_SNE,
    MULTIPLE_MAPS_T_SNE,
    Mixing,
    Normalization,
)
from manymaps.optimizers.line_search import ConjugateGradient
from manymaps.optimizers.momentum import Momentum, Optimizer

# Settings of the papers that belong to their optimizers.
_REPORT_2009: dict[str, Any] = {
    "normalization": "conditional", "mixing": "learned", "background": 0.0, "penalty": 0.0,
    "marginals": False,
}  # fmt: skip
_PAPERS = (
    (Momentum.van_der_maaten_2009(), _REPORT_2009),
    (Momentum.van_der_maaten_2012(), _REPORT_2009 | {"normalization": "joint"}),
)


@dataclass(eq=False, repr=False, kw_only=True)
class _MultipleMaps(MapEstimator):
    """Parameters and model that the three estimators share.

    Parameters
    ----------
    n_maps : int from 1 to 4,096
        Number of maps, which cannot exceed the number of objects. The default is 40 (50 for
        `AspectMaps`).
    n_components : int
        Number of dimensions of each map. The default is 2.
    penalty : float >= 0
        Weight of the size penalty `(penalty / 2) sum |y|^2`, which is added to the cost summed over
        objects. The default is 0.001 (0.01 for `MultipleMapsSNE`, 0.48 for `AspectMaps`). A small
        penalty prevents unrelated groups from drifting apart without limit, so that related objects
        remain the nearest points in a figure. A penalty of 0 fits the data most closely, and 0.01
        gives the most compact maps.
    perplexity : float or sequence of float
        Effective number of neighbours if X contains vectors. The default is 30. The similarities of
        several perplexities are averaged (multi-scale).
    metric : str or callable
        Distance between vectors: any metric supported by scikit-learn, or "precomputed" if X
        contains distances. The default is "euclidean". The metric has no effect if X contains
        similarities.
    affinity : {"auto", "precomputed"} or Affinity
        Conversion of X to similarities. The default "auto" computes Gaussian neighbourhoods of
        vectors with `perplexity`; "precomputed" uses X as similarities. An `Affinity` such as
        `LocalPerplexity()` has its own settings.
    neighbors : NeighborSearch, optional
        Method and recall of the search for neighbours of vectors. By default, an exact search is
        used if it is cheap, and an approximate search otherwise.
    init : {"auto", "personas", "random"}, ndarray of shape (n_maps, n, n_components), or Atlas
        Starting positions. An atlas also supplies the mixing proportions. The start "personas"
        splits each object by its groups of neighbours and assigns the groups to maps by theme
        (`manymaps.maps.personas`). The start "random" gives every object a position in every map,
        as in the papers. The default is "auto" ("random" for `AspectMaps`). For at least 100
        objects and more than one map, "auto" means "personas". For fewer objects, "auto" means
        "random", because the neighbours contain little information about groups and runs from
        several seeds are cheap. A single map accepts the starts of `TSNE`, and "auto" then works as
        it does there. If the optimizer defines a `start_spread`, as the presets from the papers do,
        "auto" means "random".
    n_init : int
        Number of runs from different starts. The run with the lowest cost is kept. The default is
        1. For small data sets, the cost has many local minima, and some seeds end at twice the
        divergence of other seeds.
    max_iter : int
        Maximum number of iterations per run. A run ends earlier if the cost stops decreasing. The
        default is 1,000 for `SNE` and `SymmetricSNE`, 2,500 for `UniSNE`, 750 for `TSNE` and 2,000
        for estimators of multiple maps.
    optimizer : Optimizer, optional
        Optimizer of the cost. The default is `ConjugateGradient()` for `AspectMaps`.
        For the others, it is `Momentum()`, with settings close to the 2009 report.
        In a run of fewer than 400 iterations, it keeps the weights fixed for the first quarter.
        `Momentum.van_der_maaten_2009()` and, with `normalization="joint"`,
        `Momentum.van_der_maaten_2012()` use the settings from the papers. Other settings that the
        papers do not use, such as a penalty, then cause a warning.
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
    normalization : {"conditional", "joint"}
        Normalization of the similarities. The default "conditional" uses one distribution per
        object, as in the 2009 report, and preserves asymmetry. "joint" uses one distribution over
        all pairs, as in the 2012 paper.
    mixing : {"learned", "fixed"}
        Whether the mixing proportions are fitted ("learned", the default) or keep their starting
        values, which are equal by default.
    background : float in [0, 1)
        Fraction of the similarity that is spread evenly over all pairs. The default is 0.
    kernel_width : float from 1e-15 to 1e15
        Factor by which distances are divided. The default is 1.
    marginals : bool
        Whether the model contains the response shares p(j) as fixed factors, q(j|i) ~ p(j) v_ij.
        The response share of j is the part of all responses that are j. With these factors, a word
        that is a response to many cues need not be near all of them. They require the conditional
        normalization. The default is False, as in the papers.

    Attributes
    ----------
    atlas_ : Atlas
        The fitted atlas. Its maps are numbered so that consecutive maps are similar
        (`manymaps.maps.fitted`). If `init` is an array or an atlas, the maps keep the numbers
        used there.
    maps_ : ndarray of shape (n_maps, n, n_components)
        Position of each object in each map.
    proportions_ : ndarray of shape (n_maps, n)
        Mixing proportions, which sum to 1 over the maps for each object.
    kl_divergence_ : float
        KL(P || Q) without the penalty, in nats. For a conditional model, it is the mean over
        objects with positive mass.
    n_iter_ : int
        Number of iterations of the best run.
    converged_ : bool
        Whether the best run ended because the cost stopped decreasing, before `max_iter`.
    history_ : dict of str to ndarray
        Values recorded during the run: "iteration", "cost", and "kl".
    restarts_ : tuple of Restart
        Summary of each run: `seed`, `cost`, `kl_divergence`, `n_iter` and `converged`. To repeat a
        single run, pass its seed as `random_state`.
    n_features_in_ : int
        Number of columns of X, or number of objects if X contains associations or neighbours.
    """

    _parameter_constraints: ClassVar[Mapping[str, Allowed]] = {
        **MapEstimator._parameter_constraints,
        "normalization": CHOICES["normalization"],
        "mixing": CHOICES["mixing"],
        "background": CHOICES["background"],
        "kernel_width": CHOICES["kernel_width"],
        "n_maps": N_MAPS,
        "penalty": [Number(least=0)],
        "marginals": [FLAG],
    }

    n_maps: int = field(default=40, kw_only=False)
    normalization: Normalization = "conditional"
    mixing: Mixing = "learned"
    background: float = 0.0
    penalty: float = 0.001
    kernel_width: float = 1.0
    marginals: bool = False
    max_iter: int = 2000

    def __init_subclass__(cls, **options: Any) -> None:
        """Complete the documentation of an estimator by the parameters and attributes above."""
        super().__init_subclass__(**options)
        sentence = "The parameters and attributes are those of `_MultipleMaps`."
        if _MultipleMaps.__doc__ and cls.__doc__:
            shared = cleandoc(_MultipleMaps.__doc__)
            sections = shared[shared.index("Parameters\n---") :]
            cls.__doc__ = cleandoc(cls.__doc__).replace(sentence, sections)

    def _validate_params(self) -> None:
        super()._validate_params()
        if self.marginals and self.normalization == "joint":
            # Factors b_j are not symmetric, which a joint model requires.
            raise ParameterError(
                f"cannot be combined with {setting('normalization', 'joint')}; use "
                f"{setting('normalization', 'conditional')} or marginals=False",
                name="marginals",
                value=self.marginals,
            )
        others = [
            setting(name, value)
            for optimizer, settings in _PAPERS if optimizer == self.optimizer
            for name, value in settings.items() if getattr(self, name) != value
        ]  # fmt: skip
        if others:
            warnings.warn(
                f"the optimizer is that of a paper, which uses {in_words(others)}",
                DataWarning,
                stacklevel=4,
            )

    def _default_optimizer(self, n_objects: int) -> Optimizer:
        return Momentum(hold_weights=min(Momentum.hold_weights, self.max_iter // 4))


@dataclass(eq=False, repr=False, kw_only=True)
class MultipleMapsTSNE(_MultipleMaps):
    """Multiple maps t-SNE: several maps with a heavy-tailed kernel.

    The parameters and attributes are those of `_MultipleMaps`.

    See Also
    --------
    MultipleMapsSNE, AspectMaps, TSNE, insert, evaluate, sweep

    References
    ----------
    L.J.P. van der Maaten and G.E. Hinton, Modeling semantic similarities in multiple maps,
    EWI-ICT TR 2009-001, Delft University of Technology; Visualizing non-metric similarities in
    multiple maps, Machine Learning 87, 2012.

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

    @classmethod
    def van_der_maaten_2009(cls, n_maps: int = 40) -> Self:
        """Return the estimator with all settings of the 2009 report for its word maps.

        The maps are fitted from random starts in 2,000 iterations, without a penalty, by
        `Momentum.van_der_maaten_2009`.

        Parameters
        ----------
        n_maps : int
            Number of maps. The report uses 40.

        Returns
        -------
        MultipleMapsTSNE
            Estimator with these settings.

        Examples
        --------
        >>> from manymaps import MultipleMapsTSNE
        >>> paper = MultipleMapsTSNE.van_der_maaten_2009(20)
        >>> paper.n_maps, paper.penalty, paper.init
        (20, 0.0, 'random')
        """
        return cls(
            n_maps, **_REPORT_2009, init="random", max_iter=2000,
            optimizer=Momentum.van_der_maaten_2009(),
        )  # fmt: skip


@dataclass(eq=False, repr=False, kw_only=True)
class MultipleMapsSNE(_MultipleMaps):
    """Multiple maps SNE: several maps with a Gaussian kernel.

    The default penalty is 0.01. Without heavy tails in the kernel, maps spread less and split into
    more groups.

    The parameters and attributes are those of `_MultipleMaps`.

    See Also
    --------
    MultipleMapsTSNE, AspectMaps, SNE

    References
    ----------
    L.J.P. van der Maaten and G.E. Hinton, Modeling semantic similarities in multiple maps,
    EWI-ICT TR 2009-001, Delft University of Technology, section 3.

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
    """Aspect maps: many small Gaussian maps with a size penalty, fitted by conjugate gradients.

    The default values are taken from the paper: 50 maps and a penalty of 0.48.

    The parameters and attributes are those of `_MultipleMaps`.

    See Also
    --------
    MultipleMapsTSNE, MultipleMapsSNE, optimizers.ConjugateGradient

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

    def _default_optimizer(self, n_objects: int) -> Optimizer:
        return ConjugateGradient()

    @classmethod
    def cook_2007(cls) -> Self:
        """Return the estimator with the settings of the paper for its 1,000 words (section 5).

        It has 50 maps and a penalty of 0.48, and starts at random. The paper does not state the
        number of iterations of conjugate gradients; 400 are used here.

        Returns
        -------
        AspectMaps
            Estimator with these settings.

        Examples
        --------
        >>> from manymaps import AspectMaps
        >>> AspectMaps.cook_2007().penalty
        0.48
        """
        return cls(
            50, penalty=0.48, normalization="conditional", mixing="learned", background=0.0,
            marginals=False, init="random", max_iter=400, optimizer=ConjugateGradient(),
        )  # fmt: skip
