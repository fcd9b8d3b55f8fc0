"""The start by personas: what it splits, what it keeps together, and the fits that begin there."""

from importlib.resources import files

import numpy as np
import pytest
from scipy import sparse

import manymaps as mm
from manymaps.affinity.network import spectral_directions
from manymaps.archive.arrays import open_arrays
from manymaps.compute.threads import threads
from manymaps.maps.personas import persona_start, personas


def two_worlds(size=8):
    """Two cliques that know nothing of one another but for the last object, which is in both."""
    n = 2 * size + 1
    ties = np.zeros((n, n))
    first, second = [*range(size), n - 1], [*range(size, 2 * size), n - 1]
    for members in (first, second):
        ties[np.ix_(members, members)] = 1.0
    np.fill_diagonal(ties, 0)
    return ties


def random_table(n=60, seed=0, density=0.1):
    rng = np.random.default_rng(seed)
    table = rng.random((n, n)) * (rng.random((n, n)) < density)
    np.fill_diagonal(table, 0)
    return sparse.csr_array(table)


def start(table, n_maps, seed=0, d=2):
    return persona_start(sparse.csr_array(table), n_maps, d, np.random.default_rng(seed))


def contrast(atlas, relations, senses_of_pairs):
    """Agreement of two pairs on their map within senses minus across the senses of a word."""
    table, differences = relations.strengths, []
    for word in range(relations.n_objects):
        stored = slice(table.indptr[word], table.indptr[word + 1])
        near, senses = table.indices[stored], senses_of_pairs[stored]
        votes = atlas.choices.votes(np.full(len(near), word), near)
        agreement, same = votes @ votes.T, senses[:, None] == senses
        pairs = ~np.eye(len(near), dtype=bool)
        if (same & pairs).any() and not same.all():
            differences.append(agreement[same & pairs].mean() - agreement[~same].mean())
    return np.mean(differences)


class TestPersonas:
    def test_who_is_in_two_worlds_has_two(self):
        found = personas(sparse.csr_array(two_worlds()))
        assert np.bincount(found.owner).tolist() == [1] * 16 + [2]
        mine = found.holder[found.ties.indptr[16] :]
        assert len(set(mine[:8])) == len(set(mine[8:])) == 1
        assert mine[0] != mine[-1]

    def test_who_has_no_tie_among_the_neighbours_joins_the_largest(self):
        ties = two_worlds(4)
        ties = np.pad(ties, (0, 1))
        ties[8, 9] = ties[9, 8] = 1.0  # a tenth, known to object 8 alone
        found = personas(sparse.csr_array(ties))
        assert np.bincount(found.owner).tolist() == [1] * 8 + [2, 1]

    def test_every_tie_by_its_definition(self):
        found = personas(random_table(n=25, density=0.3))
        network, ties = found.network.toarray(), found.ties
        holder = sparse.csr_array((found.holder + 1, ties.indices, ties.indptr), ties.shape)
        expected = np.zeros_like(network)
        for i, j in zip(*ties.nonzero(), strict=True):
            expected[holder[i, j] - 1, holder[j, i] - 1] += ties[i, j]
        np.testing.assert_allclose(network, expected)
        np.testing.assert_allclose(network.sum(axis=1), found.masses)
        np.testing.assert_array_equal(network, network.T)
        assert (np.diff(found.owner) >= 0).all()

    def test_scale_of_a_row_does_not_matter(self):
        table = random_table()
        scaled = sparse.csr_array(sparse.diags_array(np.linspace(1, 9, 60)) @ table)
        one, other = personas(table), personas(scaled)
        np.testing.assert_array_equal(one.holder, other.holder)
        np.testing.assert_allclose(one.ties.toarray(), other.ties.toarray(), rtol=1e-6)


class TestStart:
    def test_two_worlds_get_a_map_each_and_who_is_in_both_is_in_both(self):
        _, held = start(two_worlds(), 2)
        top = held.argmax(axis=0)
        assert len(set(top[:8])) == len(set(top[8:16])) == 1
        assert top[0] != top[8]
        np.testing.assert_allclose(held[:, 16], 0.5)

    @pytest.mark.parametrize(
        ("n", "n_maps", "d"),
        [(60, 1, 2), (60, 5, 1), (60, 40, 3), (60, 60, 2), (60, 2, 80), (2, 2, 2), (4, 4, 2)],
    )
    def test_any_size(self, n, n_maps, d):
        table = random_table() if n == 60 else np.ones((n, n)) - np.eye(n)
        positions, held = start(table, n_maps, d=d)
        assert positions.shape == (n_maps, n, d)
        assert np.isfinite(positions).all()
        np.testing.assert_allclose(held.sum(axis=0), 1)
        assert held.min() > 0

    def test_longest_axis_of_what_a_map_holds_is_that_of_the_kernel(self):
        positions, held = start(random_table(), 3)
        for places, share in zip(positions, held, strict=True):
            weights = share / share.sum()
            spread = np.sqrt(weights @ (places - weights @ places) ** 2)
            np.testing.assert_allclose(spread.max(), 1, rtol=0.05)

    def test_every_object_has_a_proportion_on_every_map(self):
        assert start(random_table(300, density=0.15), 30)[1].min() > 3e-3
        _, held = start(np.pad(two_worlds(), (0, 1)), 3)
        np.testing.assert_allclose(held[:, -1], 1 / 3)

    def test_same_seed_same_bits_at_any_number_of_threads(self):
        found = []
        for count in (1, 2):
            with threads(count):
                found.append(start(random_table(300, density=0.03), 5, seed=3))
        for one, other in zip(*found, strict=True):
            np.testing.assert_array_equal(one, other)


def three_worlds(bond):
    """Three cliques; the last object is in two of them, which have few ties with one another."""
    n, size = 25, 8
    ties = np.zeros((n, n))
    worlds = [list(range(k * size, (k + 1) * size)) for k in range(3)]
    for members in ([*worlds[0], n - 1], [*worlds[1], n - 1], worlds[2]):
        ties[np.ix_(members, members)] = 1.0
    for a, b in [(0, 8), (1, 9), (2, 10)]:
        ties[a, b] = ties[b, a] = bond
    np.fill_diagonal(ties, 0)
    return ties


@pytest.mark.parametrize("seed", range(3))
class TestWhatDecides:
    def test_personas_of_one_object_part(self, monkeypatch, seed):
        """Two maps for three worlds: the two that an object knows are not put together."""
        monkeypatch.setattr("manymaps.maps.personas._LEANING", 0.0)
        np.testing.assert_allclose(start(three_worlds(0.3), 2, seed)[1][:, -1], 0.5)
        monkeypatch.setattr("manymaps.maps.personas._PARTING", 0.0)
        assert start(three_worlds(0.3), 2, seed)[1][:, -1].max() > 0.9

    def test_personas_lean_to_the_map_of_their_theme(self, monkeypatch, seed):
        """Who shares a map lies in like directions, more than ties alone would have it."""
        table = random_table(200, seed=1, density=0.02)
        directions = spectral_directions(table, 70, seed=0)

        def theme():
            held = start(table, 4, seed)[1]
            shared = np.einsum("mi,mj->ij", held, held) * (1 - np.eye(200))
            return np.average(directions @ directions.T, weights=shared)

        leaning = theme()
        monkeypatch.setattr("manymaps.maps.personas._LEANING", 0.0)
        assert leaning > theme() + 0.005


class TestFit:
    def test_is_the_default_of_several_maps(self):
        usual, named, random = (
            mm.MultipleMapsTSNE(2, affinity="precomputed", max_iter=1, random_state=0, **given).fit(
                random_table(100)
            )
            for given in ({}, {"init": "personas"}, {"init": "random"})
        )
        np.testing.assert_array_equal(usual.maps_, named.maps_)
        assert (usual.proportions_ != random.proportions_).any()
        assert np.ptp(random.maps_) < 0.5 < np.ptp(named.maps_)

    @pytest.mark.slow
    def test_senses_come_apart_at_no_cost_in_fit(self):
        relations = mm.load_word_relations()
        with open_arrays(files("manymaps") / "data" / "word_relations.npz") as file:
            senses = file.read("senses")
        scores = {}
        for init in ("personas", "random"):
            fit = mm.MultipleMapsTSNE(20, init=init, max_iter=150, random_state=0).fit(relations)
            atlas = fit.atlas_
            scores[init] = (fit.kl_divergence_, contrast(atlas, relations, senses))
        assert scores["personas"][0] < scores["random"][0]
        assert scores["personas"][1] > scores["random"][1] + 0.04
