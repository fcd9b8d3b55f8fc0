"""What `random_state` stands for: the number itself, or one that is drawn, once."""

import random

import numpy as np
import pytest
from scipy import sparse

import manymaps as mm
from manymaps.prediction import predict_associations
from manymaps.seeds import drawn_generator, drawn_seed

RING = sparse.diags_array([0.25] * 4, offsets=[-2, -1, 1, 2], shape=(20, 20)).tocsr()
TABLE = RING.toarray() + 0.1
NORMS = mm.Associations([str(i) for i in range(20)], RING)
POINTS = np.random.default_rng(2).normal(size=(20, 3))
SIMILAR = np.random.default_rng(3).random((8, 8))
SIMILAR += SIMILAR.T


def predictor(s):
    return mm.AssociationPredictor(2, 2, max_iter=2, random_state=s).fit(RING)


def clustering(s):
    settings = {"solver": "gibbs", "polish": False, "n_init": 2}
    return mm.AdditiveClustering(3, **settings, random_state=s).fit(SIMILAR)


def stability(s):
    fit = mm.AdditiveClustering(2, n_init=1, random_state=0).fit(SIMILAR)
    return mm.cluster_stability(fit, n_bootstraps=3, random_state=s)


CODE = mm.CODE(init="random", penalty=0.1, max_iter=5)
SIMILARITIES = mm.TSNE(max_iter=5, affinity="precomputed")
CALLS = {
    "TSNE": lambda s: mm.TSNE(perplexity=3, max_iter=20, random_state=s).fit(POINTS).maps_,
    "MultipleMapsTSNE": lambda s: (
        mm.MultipleMapsTSNE(2, max_iter=20, random_state=s).fit(NORMS).proportions_
    ),
    "CODE": lambda s: CODE.set_params(random_state=s).fit(TABLE).row_embedding_,
    "AdditiveClustering": lambda s: clustering(s).membership_probabilities_,
    "AssociationPredictor": lambda s: predictor(s).maps_.positions,
    "predict_associations": lambda s: (
        predict_associations(NORMS, 1, 2, max_iter=2, random_state=s).per_word
    ),
    "split_associations": lambda s: mm.split_associations(NORMS, random_state=s).train.toarray(),
    "resampled": lambda s: mm.resampled(NORMS, s).strengths.toarray(),
    "repeat_fits": lambda s: mm.repeat_fits(SIMILARITIES, TABLE, 1, random_state=s)[0].maps,
    "cluster_path": lambda s: (
        mm.cluster_path(SIMILAR, range(1, 3), n_repeats=2, random_state=s).held_out_error
    ),
    "cluster_stability": lambda s: stability(s).recurrence,
    "load_integers": lambda s: mm.load_integers(noise=0.1, random_state=s).strengths.toarray(),
}


@pytest.mark.filterwarnings("ignore::manymaps.errors.DataWarning")
@pytest.mark.parametrize("name", CALLS)
def test_none_draws_one_number_from_the_global_state_and_a_number_none(name):
    call = CALLS[name]
    np.random.seed(11)  # noqa: NPY002
    random.seed(11)
    found = call(None)
    twin = np.random.RandomState(11)
    number = int(twin.randint(2**31 - 1))
    np.testing.assert_array_equal(found, call(number))
    np.testing.assert_array_equal(found, call(np.random.RandomState(11)))
    after = np.random.get_state()  # noqa: NPY002
    np.testing.assert_array_equal(after[1], twin.get_state()[1])
    assert after[2:] == twin.get_state()[2:]
    assert random.getstate() == random.Random(11).getstate()


def test_the_number_of_a_fit_is_told():
    fit = mm.SNE(perplexity=3, max_iter=10, random_state=np.random.RandomState(4)).fit(POINTS)
    assert fit.restarts_[0].seed == np.random.RandomState(4).randint(2**31 - 1)
    assert fit.atlas_.parameters["random_state"] is None


def test_whole_numbers_of_any_kind_are_seeds():
    assert drawn_seed(7) == drawn_seed(np.int64(7)) == 7
    generator = np.random.default_rng(3)
    assert drawn_generator(generator) is generator
    assert drawn_generator(3).random() == np.random.default_rng(3).random()
