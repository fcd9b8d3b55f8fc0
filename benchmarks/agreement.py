"""A cost term that keeps the members of a meaning in one map.

    python benchmarks/agreement.py [--data usf lwow] [--seeds 0 1] [--terms shares proportions]
                                   [--strengths 0 0.1 0.3 1] [--iterations 500] [--check]

Meanings are computed from the associations alone (`manymaps.atlas.meanings`). Let s be the share of
meaning M among the responses to word i, and let t_j be the share of member j within the meaning. A
term is added to the cost summed over rows, with strength lambda:

    shares       lambda sum_i sum_M s (1 - sum_m R_m^2),      R_m = sum_j t_j r_ij^m
    proportions  lambda / 2 sum_i sum_M s sum_j t_j |pi_j - pi_M|^2,      pi_M = sum_j t_j pi_j

The first term is 0 if one map explains all members of each meaning (r_ij^m is the share of v_ij
that map m contributes). The second term attracts the proportions of the members to their mean. One
line is printed for each data set, term and strength, with means over the seeds:

    KL         nats per cue, without the term
    explained  mean over cues of sum_j min(p_ij, q_ij)
    visible    share of cues whose strongest associate is among the 10 nearest dots in a map
    recurs     senses, by maps only, that recur between the seeds
    theme      mean cosine of two words that share a map
    F          B-cubed F of the homonyms' associates, grouped by the map that explains them (USF)
    half       share of the listed meanings of which one map explains at least half

--check compares the gradients with finite differences. The data sets are those of
`benchmarks/kernels.py`, and the homonyms are those of `examples/validation/homonyms.py`.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from kernels import SETS
from numba import njit
from scipy import sparse
from starts import recurrence, theme, visible

import manymaps as mm
from manymaps.affinity.network import spectral_directions
from manymaps.analysis.reliability import mean_explained
from manymaps.analysis.senses import fit_senses
from manymaps.atlas.associations import MOST_PARTNERS, strongest_associations
from manymaps.atlas.meanings import meaning_space
from manymaps.atlas.senses import observed_groups
from manymaps.metrics import explaining_maps
from manymaps.model.choice import ChoiceModel
from manymaps.model.cost import Cost
from manymaps.model.objective import Entries, Evaluation, Objective
from manymaps.model.parameters import Parameters, log_softmin
from manymaps.model.similarities import kernel_exponent
from manymaps.model.target import Target

sys.path.insert(0, str(Path(__file__).parents[1] / "examples" / "validation"))
from homonyms import HOMONYMS, Homonyms, Network, induced, read_homonyms


@dataclass(frozen=True, eq=False)
class Meanings:
    """Members of all meanings, sorted by meaning.

    Attributes
    ----------
    ends : ndarray of int, shape (n_meanings + 1,)
    words, members : ndarray of int, shape (n_members,)
    shares : ndarray of shape (n_meanings,)
    weights : ndarray of shape (n_members,)
    """

    ends: np.ndarray
    words: np.ndarray
    members: np.ndarray
    shares: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, data: mm.Associations) -> Meanings:
        """Compute the meanings of all words."""
        table = strongest_associations(data.strengths)
        words = np.flatnonzero(np.diff(table.indptr))
        owners = np.repeat(words, np.diff(table.indptr)[words])
        numbers = observed_groups(table, words, meaning_space(table, data.labels))
        # The groups of different words may have the same number.
        groups = np.unique(np.stack([owners, numbers]), axis=1, return_inverse=True)[1].ravel()
        order = np.argsort(groups, kind="stable")
        strengths = table.data.astype(np.float64)
        shares = np.bincount(groups, strengths)
        return cls(
            np.concatenate([[0], np.cumsum(np.bincount(groups))]),
            owners[order],
            table.indices[order].astype(np.int64),
            shares,
            (strengths / shares[groups])[order],
        )


@njit
def shares_term(ends, words, members, shares, weights, places, log_pi, exponent, d_places, d_logs):
    """Add the gradients of sum s (1 - sum R^2), and return it."""
    n_maps = log_pi.shape[1]
    value = 0.0
    for meaning in range(len(shares)):
        first, last = ends[meaning], ends[meaning + 1]
        parts = np.empty((last - first, n_maps))
        total = np.zeros(n_maps)
        for e in range(first, last):
            i, j = words[e], members[e]
            part = parts[e - first]
            for m in range(n_maps):
                d2 = 0.0
                for k in range(places.shape[2]):
                    d2 += (places[i, m, k] - places[j, m, k]) ** 2
                kernel = -exponent * np.log1p(d2 / exponent) if exponent < np.inf else -d2
                part[m] = log_pi[i, m] + log_pi[j, m] + kernel
            part[:] = np.exp(part - part.max())
            part /= part.sum()
            total += weights[e] * part
        value += shares[meaning] * (1 - (total**2).sum())
        for e in range(first, last):
            i, j = words[e], members[e]
            part = parts[e - first]
            mean = (part * total).sum()
            for m in range(n_maps):
                slope = -2 * shares[meaning] * weights[e] * part[m] * (total[m] - mean)
                d_logs[i, m] += slope
                d_logs[j, m] += slope
                d2 = 0.0
                for k in range(places.shape[2]):
                    d2 += (places[i, m, k] - places[j, m, k]) ** 2
                slope *= -2 / (1 + d2 / exponent)
                for k in range(places.shape[2]):
                    pull = slope * (places[i, m, k] - places[j, m, k])
                    d_places[i, m, k] += pull
                    d_places[j, m, k] -= pull
    return value


@dataclass(frozen=True)
class Agreeing:
    """A cost with a term for meanings (a `manymaps.model.cost.Cost`)."""

    base: Objective
    meanings: Meanings
    term: str
    strength: float

    @property
    def target(self) -> Target:
        """The target of the base."""
        return self.base.target

    @property
    def model(self) -> ChoiceModel:
        """The model of the base."""
        return self.base.model

    @property
    def penalty(self) -> float:
        """The penalty of the base."""
        return self.base.penalty

    @property
    def fingerprint(self) -> str:
        """The hash of the data."""
        return self.base.fingerprint

    def with_background_share(self, share: float) -> Agreeing:
        """Return a copy with another background."""
        return replace(self, base=self.base.with_background_share(share))

    def shares(self, parameters: Parameters, log_normalizers: np.ndarray) -> tuple[np.ndarray, ...]:
        """The explained shares of the base."""
        return self.base.shares(parameters, log_normalizers)

    def evaluate(
        self,
        parameters: Parameters,
        *,
        entries: tuple[Entries, ...] | None = None,
        exaggeration: float = 1.0,
        want_cost: bool = True,
    ) -> Evaluation:
        """Add the term to the cost and the gradient of the base."""
        found = self.base.evaluate(
            parameters, entries=entries, exaggeration=exaggeration, want_cost=want_cost
        )
        value, positions, weights = self.term_of(parameters)
        if found.gradient.places is not None:
            places = found.gradient.places[0]
            positions = positions.reshape(-1, positions.shape[2])[places]
            weights = weights.ravel()[places]
        found.gradient.positions[0][...] += self.strength * positions
        found.gradient.weights[0][...] += self.strength * weights
        return replace(found, cost=found.cost + self.strength * value)

    def term_of(self, parameters: Parameters) -> tuple[float, np.ndarray, np.ndarray]:
        """Compute the term and its gradients, (n_maps, n, d) and (n_maps, n)."""
        log_pi = log_softmin(parameters.weights[0])
        pi = np.exp(log_pi)
        of, d_positions = self.meanings, np.zeros(parameters.positions[0].shape)
        if self.term == "shares":
            positions = parameters.positions[0].astype(np.float64) / self.model.kernel_width
            exponent = (
                np.inf if self.model.kernel == "gaussian" else kernel_exponent(self.model.kernel)
            )
            d_places, d_logs = np.zeros((*pi.T.shape, positions.shape[2])), np.zeros(pi.T.shape)
            value = shares_term(
                of.ends, of.words, of.members, of.shares, of.weights,
                np.ascontiguousarray(positions.transpose(1, 0, 2)), np.ascontiguousarray(log_pi.T),
                float(exponent), d_places, d_logs,
            )  # fmt: skip
            slopes = d_logs.T
            d_positions = d_places.transpose(1, 0, 2) / self.model.kernel_width
        else:
            shape = len(of.shares), pi.shape[1]
            inside = sparse.csr_array((of.weights, of.members, of.ends), shape)
            means = inside @ pi.T
            mass = inside.T @ of.shares
            value = (mass @ (pi.T**2).sum(axis=1) - of.shares @ (means**2).sum(axis=1)) / 2
            slopes = pi * (mass[:, None] * pi.T - inside.T @ (of.shares[:, None] * means)).T
        return float(value), d_positions, pi * slopes.sum(axis=0) - slopes


@dataclass(eq=False, repr=False, kw_only=True)
class AgreeingMaps(mm.MultipleMapsTSNE):
    """Multiple maps t-SNE with a term for meanings."""

    meanings: Meanings | None = None
    term: str = "shares"
    strength: float = 0.0

    def _objective(self, forward: Objective) -> Cost:
        base = super()._objective(forward)
        if not self.strength:
            return base
        return Agreeing(base, self.meanings, self.term, self.strength)


def f_by_maps(atlas: mm.Atlas, network: Network, homonyms: Homonyms) -> float:
    """Compute F of the homonyms' associates, grouped by the map that explains them."""

    def maps_of(i: int) -> np.ndarray:
        near = network.near(i)
        kernel = atlas.model.kernel
        return explaining_maps(
            atlas.maps, atlas.proportions, np.full(len(near), i), near, kernel=kernel
        )

    several = [word for word in homonyms.associates if homonyms.second_size(word)]
    return induced(homonyms, network.partition(homonyms, maps_of), several)


def figures(fits: list[mm.Atlas], data: mm.Associations, more: Callable) -> list[float]:
    """Return the columns of the table; the recurrence is a mean over pairs of seeds."""
    directions = spectral_directions(data.strengths, 70, seed=0)
    rows = []
    for atlas in fits:
        senses = fit_senses(atlas, MOST_PARTNERS, 0)
        shown = senses.weights.sum(axis=1) >= 0.5
        rows.append(
            (float(atlas.parameters["kl_divergence"]), mean_explained(atlas),
             visible(atlas, data.strengths), theme(atlas, directions), more(atlas), shown.mean())
        )  # fmt: skip
    kl, share, seen, common, f, half = np.mean(rows, axis=0).tolist()
    recurs = float(recurrence(fits).split()[0]) if len(fits) > 1 else np.nan
    return [kl, share, seen, recurs, common, f, half]


def check(data: mm.Associations) -> None:
    """Print the largest relative error of the gradients of both terms in some directions."""
    rng = np.random.default_rng(0)
    n, meanings = data.n_objects, Meanings.of(data)
    plain = mm.MultipleMapsTSNE(4, degrees_of_freedom=2.0)
    parameters = Parameters((rng.normal(size=(4, n, 2)),), (rng.normal(size=(4, n)),))
    for term in ("shares", "proportions"):
        cost = Agreeing(_WithModel(plain._model()), meanings, term, 1.0)
        _, positions, weights = cost.term_of(parameters)
        gradient = np.concatenate([positions.ravel(), weights.ravel()])
        errors = []
        for _ in range(5):
            step = rng.normal(size=gradient.size)
            ends = [
                cost.term_of(parameters.unpack(parameters.pack() + sign * 1e-5 * step))[0]
                for sign in (1, -1)
            ]
            numeric = (ends[0] - ends[1]) / 2e-5
            errors.append(abs(numeric - gradient @ step) / abs(numeric))
        print(f"{term}: largest relative error of the gradient {max(errors):.1e}")


@dataclass(frozen=True)
class _WithModel:
    """The part of an objective on which the terms depend."""

    model: object


def main() -> None:
    """Print a table per data set."""
    parser = argparse.ArgumentParser(description="Keep the members of a meaning in one map.")
    parser.add_argument("--data", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--terms", nargs="+", default=["shares", "proportions"])
    parser.add_argument("--strengths", type=float, nargs="+", default=[0, 0.1, 0.3, 1])
    parser.add_argument("--iterations", type=int, default=500)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    if arguments.check:
        check(mm.load_word_relations())
        return
    for name in arguments.data:
        read, n_maps = SETS[name]
        data, more = read(), lambda _: np.nan
        if name == "usf" and HOMONYMS.exists():
            more = partial(f_by_maps, network=Network(data), homonyms=read_homonyms())
        meanings = Meanings.of(data)
        print(f"\n{name}: {data.n_objects} words, {len(meanings.shares)} meanings, {n_maps} maps")
        print(
            "term         strength     KL  explained  visible  recurs  theme      F   half  seconds"
        )
        settings = [("none", 0.0)] if 0 in arguments.strengths else []
        settings += itertools.product(arguments.terms, filter(None, arguments.strengths))
        for term, strength in settings:
            start = time.perf_counter()
            fits = [
                AgreeingMaps(
                    n_maps, meanings=meanings, term=term, strength=strength, popularity=0,
                    degrees_of_freedom=1, random_state=seed, max_iter=arguments.iterations,
                ).fit(data).atlas_
                for seed in arguments.seeds
            ]  # fmt: skip
            seconds = (time.perf_counter() - start) / len(fits)
            kl, share, seen, recurs, common, f, half = figures(fits, data, more)
            print(
                f"{term:11s}  {strength:8g}  {kl:5.3f}  {share:9.3f}  {seen:7.3f}  {recurs:6.3f}  "
                f"{common:5.3f}  {f:5.3f}  {half:5.3f}  {seconds:7.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
