"""Models of meaning by topics, read as models of association.

    model               p(j|i) = sum_z p(z|i) p(j|z)                     source
    ProbabilisticLSA    by KL divergence                                 Hofmann 1999
    TopicModel          with Dirichlet priors on both factors (LDA)      Blei, Ng & Jordan 2003

The context of a cue contains its responses, the cues to which it is a response, and itself. Without
itself, a cue need not be in the topic of its associates: on the free association norms of Nelson et
al. the validation error of 150 topics from a random start was 0.55 without and 0.52 with itself.

`lib.models` explains how activation becomes q(j|i), and how parameters are chosen.

Shapes: topics_given_cue (n, n_topics), words_given_topic (n_topics, n).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize

from lib.models import NOT_NEGATIVE, POSITIVE, SHARE, AssociationModel
from manymaps.affinity.network import association_network
from manymaps.constraints import Allowed, Whole
from manymaps.seeds import drawn_seed

__all__ = ["ProbabilisticLSA", "TopicModel"]


class _Topics(AssociationModel):
    """p(j|i) = sum_z p(z|i)^tempering p(j|z), normalized."""

    tempering: float
    backward: float
    self_weight: float

    reading = AssociationModel.reading | {"tempering"}
    _parameter_constraints: ClassVar[Mapping[str, Allowed]] = {
        **AssociationModel._parameter_constraints,
        "n_topics": [Whole(1)],
        "max_iter": [Whole(1)],
        "backward": [SHARE],
        "self_weight": [NOT_NEGATIVE],
        "tempering": [POSITIVE],
    }

    def _contexts(self, train: sparse.csr_array) -> sparse.csr_array:
        """Build row i from the associates of i in both directions and i itself, with a sum of 1."""
        spread = normalize(association_network(train, backward=self.backward), "l1")
        selves = self.self_weight * sparse.eye_array(train.shape[0])
        return normalize(sparse.csr_array(spread + selves), "l1")

    def _keep(self, given_cue: np.ndarray, given_topic: np.ndarray) -> None:
        """Normalize tables of any scale to p(z|i) (n, n_topics) and p(j|z) (n_topics, n)."""
        mass = given_topic.sum(axis=1)
        given_cue = given_cue * mass
        sums = given_cue.sum(axis=1, keepdims=True)
        self.topics_given_cue_ = given_cue / np.where(sums > 0, sums, 1.0)
        self.words_given_topic_ = given_topic / np.where(mass > 0, mass, 1.0)[:, None]

    def _activation(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray(self.topics_given_cue_[rows] ** self.tempering @ self.words_given_topic_)


class ProbabilisticLSA(_Topics):
    """Probabilistic latent semantic analysis: p(j|i) = sum_z p(z|i) p(j|z).

    Fitted as a non-negative factorization by KL divergence, whose fixed points are those of EM
    (Hofmann 1999; Gaussier & Goutte 2005), from the singular vectors (NNDSVD).

    Parameters
    ----------
    n_topics : int
    max_iter : int
        Number of multiplicative updates; a small number prevents overfitting.
    backward : float in [0, 1]
        Weight of associations against their direction.
    self_weight : float >= 0
        Weight of the cue in its own context, in which all associates have weight 1 together.
    tempering : float > 0
        Exponent of p(z|i) in predictions; below 1, the topics of a cue become more equal.
    popularity, smoothing, uniform : float
        See `lib.models`.

    Examples
    --------
    >>> two = sparse.csr_array(np.kron(np.eye(2), (np.ones((3, 3)) - np.eye(3)) / 2))
    >>> q = ProbabilisticLSA(n_topics=2, smoothing=0.1).fit(two, random_state=0).probabilities([0])
    >>> bool(q[0, 1:3].sum() > 0.9)
    True
    """

    def __init__(
        self,
        *,
        n_topics: int = 400,
        max_iter: int = 15,
        backward: float = 0.5,
        self_weight: float = 0.3,
        tempering: float = 0.4,
        popularity: float = 0.2,
        smoothing: float = 0.33,
        uniform: float = 0.05,
    ):
        self.n_topics = n_topics
        self.max_iter = max_iter
        self.backward = backward
        self.self_weight = self_weight
        self.tempering = tempering
        self.popularity = popularity
        self.smoothing = smoothing
        self.uniform = uniform

    def _fit(self, train: sparse.csr_array, seed: int | None) -> None:
        from sklearn.decomposition import NMF
        from sklearn.exceptions import ConvergenceWarning

        self._check_counts(train.shape[0], n_topics=1)
        model = NMF(
            self.n_topics,
            solver="mu",
            beta_loss="kullback-leibler",
            init="nndsvda",
            max_iter=self.max_iter,
            random_state=drawn_seed(seed),
        )
        with warnings.catch_warnings():
            # The updates are cut short on purpose.
            warnings.simplefilter("ignore", ConvergenceWarning)
            given_cue = model.set_output(transform="default").fit_transform(self._contexts(train))
        self._keep(given_cue, model.components_)


class TopicModel(_Topics):
    """Latent Dirichlet allocation with a cue as a document of its responses.

    p(j|i) = sum_z p(z|i) p(j|z), where p(z|i) ~ gamma_iz and p(j|z) ~ lambda_zj are means of the
    variational posterior (Blei, Ng & Jordan 2003); topics of association norms as in Griffiths,
    Steyvers & Tenenbaum 2007.

    Parameters
    ----------
    n_topics : int
    counts : float > 0
        Words in the document of a cue.
    topic_prior, word_prior : float > 0
        Dirichlet priors of p(z|i) and p(j|z).
    max_iter : int
        Batch variational passes.
    backward, self_weight, tempering, popularity, smoothing, uniform : float
        As in `ProbabilisticLSA`.

    Examples
    --------
    >>> two = sparse.csr_array(np.kron(np.eye(2), (np.ones((3, 3)) - np.eye(3)) / 2))
    >>> q = TopicModel(n_topics=2, smoothing=0.1).fit(two, random_state=0).probabilities([0])
    >>> bool(q[0, 1:3].sum() > 0.8)
    True
    """

    _parameter_constraints: ClassVar[Mapping[str, Allowed]] = {
        **_Topics._parameter_constraints,
        "counts": [POSITIVE],
        "topic_prior": [POSITIVE],
        "word_prior": [POSITIVE],
    }

    def __init__(
        self,
        *,
        n_topics: int = 150,
        counts: float = 100.0,
        topic_prior: float = 0.02,
        word_prior: float = 0.02,
        max_iter: int = 10,
        backward: float = 0.5,
        self_weight: float = 0.3,
        tempering: float = 0.5,
        popularity: float = 0.3,
        smoothing: float = 0.5,
        uniform: float = 0.05,
    ):
        self.n_topics = n_topics
        self.counts = counts
        self.topic_prior = topic_prior
        self.word_prior = word_prior
        self.max_iter = max_iter
        self.backward = backward
        self.self_weight = self_weight
        self.tempering = tempering
        self.popularity = popularity
        self.smoothing = smoothing
        self.uniform = uniform

    def _fit(self, train: sparse.csr_array, seed: int | None) -> None:
        from sklearn.decomposition import LatentDirichletAllocation

        model = LatentDirichletAllocation(
            self.n_topics,
            doc_topic_prior=self.topic_prior,
            topic_word_prior=self.word_prior,
            learning_method="batch",
            max_iter=self.max_iter,
            max_doc_update_iter=20,
            random_state=drawn_seed(seed),
        )
        model.set_output(transform="default")
        topics = model.fit_transform(self.counts * self._contexts(train))
        words = model.components_ / model.components_.sum(axis=1, keepdims=True)
        self._keep(topics, words)
