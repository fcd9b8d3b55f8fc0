"""CODE of several tables: its cost, recovery of known maps, and tables that do not match."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import approx_fprime
from scipy.spatial import procrustes

import manymaps as mm
from count_samples import SIZES, planted
from manymaps.cooccurrence.shared import is_tables, shared_tables
from manymaps.model.objective import Entries
from manymaps.model.parameters import Parameters, log_softmin
from reference import code_log_likelihood


@pytest.fixture(scope="module")
def data():
    return planted()


@pytest.fixture(scope="module")
def fit(data):
    return mm.CODE(random_state=0).fit(data[1])


def test_a_chain_of_tables_has_weighted_margins_and_one_bipartite_table():
    papers = mm.Counts([[1, 3], [2, 2]], ["d0", "d1"], ["w0", "w1"], ("document", "word"),
                       row_metadata={"year": [1, 2]})  # fmt: skip
    authors = mm.Counts([[1, 0], [1, 1]], ["a0", "a1"], ["d0", "d1"], ("author", "document"),
                        column_metadata={"year": [8, 9], "pages": [3, 4]})  # fmt: skip
    groups = mm.Counts([[1, 1]], ["g0"], ["a0", "a1"], ("group", "author"))
    shared = shared_tables([papers, groups, authors], [2, 1, 1])
    assert shared.kinds == ("document", "group", "author", "word")
    # The weights are 1.5, 0.75 and 0.75, and the last two tables contain no words.
    documents = 1.5 * np.array([4, 4]) / 8 + 0.75 * np.array([2, 1]) / 3
    np.testing.assert_allclose(shared.margins[0], documents / 2.25)
    per_paper = np.array([[1, 3], [2, 2]]) / 4
    per_author = (np.array([[1, 0], [1, 1]]) / 3 * 0.75) @ per_paper
    per_author_mean = per_author / per_author.sum(axis=1, keepdims=True)
    blocks = 1.5 / 2 * per_paper, 0.75 / 2 * per_author_mean.sum(axis=0), per_author
    np.testing.assert_allclose(shared.bipartite.values.toarray(), np.vstack(blocks))
    assert shared.metadata()["year"][:2].tolist() == [1, 2]
    assert shared.metadata()["pages"][:2].tolist() == [3, 4]
    fit = mm.CODE(random_state=0, max_iter=2).fit([papers, authors])
    assert fit.atlases_["document", "word"].metadata["year"][:2].tolist() == [1, 2]
    # This sparse format is also a dictionary.
    assert not is_tables(sparse.dok_array(np.eye(2)))


def stacked(points):
    return np.vstack([points[kind] for kind in SIZES])


def test_a_single_table_is_ordinary_code_exactly(data):
    plain = mm.CODE(random_state=0).fit(data[1][1])
    for one in ([data[1][1]], {("document", "word"): data[1][1]}):
        same = mm.CODE(random_state=0).fit(one)
        assert same.atlas_ == plain.atlas_
        np.testing.assert_array_equal(same.embeddings_["word"], plain.column_embedding_)
        assert same.atlases_ == {("document", "word"): plain.atlas_}
        assert same.log_likelihoods_ == {("document", "word"): plain.log_likelihood_}


def test_positions_are_recovered_better_than_by_separate_fits():
    """Two separate fits have no common axes, so one is aligned by the words of both."""
    points, tables = planted((1500, 1500, 1500))
    together = mm.CODE(random_state=0).fit(tables)
    first, second = (mm.CODE(random_state=0).fit(table) for table in tables[:2])
    a, b = first.column_embedding_, second.column_embedding_
    left, _, right = np.linalg.svd((a - a.mean(axis=0)).T @ (b - b.mean(axis=0)))
    moved = (first.row_embedding_ - a.mean(axis=0)) @ left @ right + b.mean(axis=0)
    separate = np.vstack([moved, second.row_embedding_, b])
    error = procrustes(stacked(points), stacked(together.embeddings_))[2]
    # Over four seeds, the errors were 0.07 to 0.13 together and 0.11 to 0.20 separately.
    assert error < 0.1
    assert 1.3 * error < procrustes(stacked(points), separate)[2]


def test_held_out_counts_are_predicted_better_than_by_one_point(fit):
    others = planted(seed=0, n_counts=(2_000, 2_000, 2_000))[1]
    margins = []
    for table, new in zip(fit._tables.tables, others, strict=True):
        margins.append(new.column_totals @ np.log(table.column_totals / table.n_counts))
    one_point = np.mean([sum_ / new.n_counts for sum_, new in zip(margins, others, strict=True)])
    assert fit.score(others) > one_point + 0.2
    alone = [fit.score([new]) for new in others]
    assert fit.score(others) == pytest.approx(np.mean(alone), abs=1e-6)


FORMS = [
    {"given": "rows"},
    {"given": "columns", "marginals": False},
    {"normalization": "joint"},
    {"n_maps": 2, "penalty": 0.3},
]


@pytest.mark.parametrize("form", FORMS)
def test_cost_and_gradient_are_those_of_the_reference(form):
    """Finite differences of a float64 reference, with objects that lack counts in a table."""
    sizes = {"author": 4, "document": 5, "word": 6}
    tables = planted((60, 80, 40), seed=1, sizes=sizes)[1]
    emptied = tables[0].values.toarray()
    emptied[1], emptied[:, 2] = 0, 0
    tables[0] = replace(tables[0], values=emptied)
    weights = (1.0, 0.5, 2.0)
    estimator = mm.CODE(**{"penalty": 0, "tolerance": 0} | form)
    shared = shared_tables(tables, weights)
    nonempty, objective = estimator._prepared_tables(shared)
    n_maps, turn = form.get("n_maps", 1), -1 if form.get("given") == "columns" else 1
    rng = np.random.default_rng(0)
    ns = nonempty.sizes[::turn]
    point = Parameters(
        tuple(rng.normal(0, 0.6, (n_maps, n, 2)) for n in ns),
        tuple(rng.normal(0, 0.5 * (n_maps > 1), (n_maps, n)) for n in ns),
    )
    names = ("normalization", "given", "marginals")
    settings = {name: getattr(estimator, name) for name in names}

    def likelihoods(at):
        positions = at.positions[::turn]
        pi = [np.exp(log_softmin(weights)) for weights in at.weights][::turn]
        for table in nonempty.tables:
            rows, columns = table.row_totals > 0, table.column_totals > 0
            a, b = nonempty.sets_of(table)
            yield code_log_likelihood(
                table.values.toarray()[rows][:, columns], positions[a][:, rows],
                positions[b][:, columns], pi[a][:, rows], pi[b][:, columns], **settings,
            )  # fmt: skip

    # An average row of an average table has weight 1.
    choosers = [(t.column_totals if turn < 0 else t.row_totals) for t in nonempty.tables]
    w = np.array(weights) / np.mean(weights)
    scale = np.average([(each > 0).sum() for each in choosers], weights=w)

    def cost(vector):
        at = point.unpack(vector)
        size = form.get("penalty", 0.0) / 2 * sum((each**2).sum() for each in at.positions)
        return size - scale * (w @ np.array(list(likelihoods(at))))

    evaluation = objective.evaluate(point)
    slope = approx_fprime(point.pack(), cost, 1e-6)
    if n_maps == 1:
        slope[-sum(ns) :] = 0
    np.testing.assert_allclose(evaluation.gradient.pack(), slope, atol=1e-4 * np.abs(slope).max())
    at_zero = point.unpack(np.zeros(point.pack().size))
    change = cost(point.pack()) - cost(np.zeros(point.pack().size))
    assert evaluation.cost - objective.evaluate(at_zero).cost == pytest.approx(change, abs=1e-4)


def test_kinds_without_counts_of_the_columns_are_related_through_other_kinds():
    papers = mm.Counts([[1, 0], [0, 2], [1, 1]], kinds=("author", "paper"))
    words = mm.Counts([[2, 0, 1], [0, 3, 0]], kinds=("paper", "word"))
    topics = mm.Counts([[0, 0, 5], [0, 4, 0]], kinds=("topic", "word"))
    tables = shared_tables([papers, words, topics])
    assert tables.kinds == ("author", "word", "topic", "paper")
    parts = np.split(tables.bipartite.values.toarray(), [3, 6])
    np.testing.assert_allclose(parts[0], papers.values.toarray() / 5)
    np.testing.assert_allclose(parts[1], words.values.toarray().T / 6)
    # Each topic has a single word, and each of these words has a single paper.
    np.testing.assert_allclose(parts[2], [[5 / 9, 0], [0, 4 / 9]])


def test_active_entries_have_the_same_gradient():
    """With some entries inactive, the gradient of the others is that of these entries."""
    tables = shared_tables(planted((600, 800, 400), sizes=dict.fromkeys(SIZES, 6))[1])
    nonempty, objective = mm.CODE(n_maps=3, tolerance=0)._prepared_tables(tables)
    rng = np.random.default_rng(0)
    point = Parameters(
        tuple(rng.normal(0, 0.6, (3, n, 2)) for n in nonempty.sizes),
        tuple(rng.normal(0, 0.5, (3, n)) for n in nonempty.sizes),
    )
    masks = [np.ones((3, n), bool) for n in nonempty.sizes]
    masks[1][0, 2] = False
    point.weights[1][0, 2] = 40  # this entry has no proportion
    whole = objective.evaluate(point)
    active = objective.evaluate(point, entries=tuple(map(Entries, masks)))
    assert active.cost == pytest.approx(whole.cost, rel=1e-6)
    for k, mask in enumerate(masks):
        for parts in ("positions", "weights"):
            expected = getattr(whole.gradient, parts)[k][mask]
            np.testing.assert_allclose(getattr(active.gradient, parts)[k], expected, atol=1e-5)
        np.testing.assert_allclose(active.shares[k], whole.shares[k][mask], atol=1e-5)
    shares = objective.shares(point, whole.log_normalizers)
    np.testing.assert_allclose(shares[2], whole.shares[2], atol=1e-5)
    masses = objective.masses
    np.testing.assert_allclose(masses[0], whole.shares[0].sum(axis=0), rtol=1e-5)


class TestAtlases:
    def test_each_table_has_its_atlas_with_the_common_positions(self, fit, data):
        for table in data[1]:
            atlas = fit.atlases_[table.kinds]
            assert tuple(dict.fromkeys(atlas.kinds)) == table.kinds
            for label in (table.row_labels[3], table.column_labels[5]):
                here, there = atlas.index(label), fit.atlas_.index(label)
                np.testing.assert_array_equal(atlas.maps[:, here], fit.atlas_.maps[:, there])
            rows, columns = (fit.embeddings_[kind].astype(float) for kind in table.kinds)
            expected = code_log_likelihood(table.values.toarray(), rows, columns)
            assert fit.log_likelihoods_[table.kinds] == pytest.approx(expected, abs=2e-6)

    def test_the_atlas_of_all_kinds_answers_for_each_kind(self, fit, tmp_path):
        atlas = fit.atlas_
        assert tuple(dict.fromkeys(atlas.kinds)) == ("author", "document", "word")
        assert atlas.choices.is_row.sum() == SIZES["author"] + SIZES["document"]
        assert "20 authors, 30 documents and 40 words" in repr(atlas)
        points = {kind: atlas.maps[0, atlas.of_kind(kind)] for kind in SIZES}
        for kind in ("document", "word"):
            distances = np.linalg.norm(points[kind] - points["author"][4], axis=1)
            nearest = atlas.neighbors("author4", neighbor_kind=kind, n_neighbors=1)[0].label
            assert nearest == f"{kind}{distances.argmin()}"
        assert {n.label[0] for n in atlas.neighbors("word3", n_neighbors=50)} == {"a", "d"}
        assert atlas.similarity("word3", "author4") > 0
        assert atlas.similarity("word3", "document4") > 0
        atlas.save(tmp_path / "three.atlas")
        assert mm.load_atlas(tmp_path / "three.atlas") == atlas
        pair = atlas.subset(atlas.of_kind("author") | atlas.of_kind("word"))
        assert tuple(dict.fromkeys(pair.kinds)) == ("author", "word")

    def test_new_rows_of_a_table(self, fit, data):
        new = replace(data[1][0].subset(rows=[2]), row_labels=["new"])
        insertion = mm.insert_rows(fit.atlases_["author", "word"], new)
        there = insertion.atlas.maps[0, insertion.atlas.index("new")]
        # The author's position also fits the documents, so that it is only near.
        assert np.linalg.norm(there - fit.embeddings_["author"][2]) < 0.3
        with pytest.raises(mm.DataError, match="author, document and word"):
            mm.insert_rows(fit.atlas_, new)

    def test_a_fit_of_one_table_forgets_the_tables(self, data):
        estimator = mm.CODE(random_state=0, max_iter=5).fit(data[1])
        assert not hasattr(estimator, "row_embedding_")
        estimator.fit(data[1][0])
        assert list(estimator.atlases_) == [("author", "word")]
        assert estimator.transform(data[1][0]).shape == (20, 2)


def test_a_chain_of_tables_starts_authors_at_their_documents():
    points, tables = planted((20_000, 20_000), pairs=(("document", "word"), ("author", "document")))
    fit = mm.CODE(random_state=0).fit(tables)
    assert tuple(dict.fromkeys(fit.atlas_.kinds)) == ("document", "author", "word")
    assert procrustes(stacked(points), stacked(fit.embeddings_))[2] < 0.25


def test_weights_favour_a_table(data):
    first, second, _ = data[1]
    even, uneven = (
        mm.CODE(random_state=0, penalty=0.001).fit([first, second], table_weights=weights)
        for weights in (None, (9, 1))
    )
    name = ("author", "word")
    assert uneven.log_likelihoods_[name] > even.log_likelihoods_[name]
    mean = 0.9 * uneven.log_likelihoods_[name] + 0.1 * uneven.log_likelihoods_["document", "word"]
    assert uneven.log_likelihood_ == pytest.approx(mean)


def test_the_order_of_labels_in_a_table_has_no_effect(fit, data):
    order = np.random.default_rng(0).permutation(SIZES["word"])
    tables = [data[1][0], data[1][1].subset(columns=order), data[1][2]]
    again = mm.CODE(random_state=0).fit(tables)
    assert again.atlas_ == fit.atlas_


def test_objects_without_any_counts_are_at_the_mean(data):
    tables = list(data[1])
    for k in (0, 2):
        values = tables[k].values.toarray()
        values[3] = 0
        tables[k] = replace(tables[k], values=values)
    with pytest.warns(mm.DataWarning, match="1 of 20 authors have no counts .*author3"):
        fit = mm.CODE(random_state=0).fit(tables)
    others = np.delete(fit.embeddings_["author"], 3, axis=0)
    assert fit.embeddings_["author"].shape == (20, 2)
    assert np.abs(fit.embeddings_["author"][3]).max() < np.abs(others).max()
    assert "author3" not in fit.atlas_


def test_groups_that_drift_apart_are_reported():
    blocks = np.kron(np.eye(2), np.ones((3, 3)))
    tables = {("author", "word"): blocks, ("document", "word"): blocks + np.eye(6)}
    with pytest.warns(mm.DataWarning, match="the tables have 2 groups of objects"):
        mm.CODE(penalty=0, random_state=0).fit(tables)
    joined = {**tables, ("document", "word"): np.ones((6, 6))}
    fit = mm.CODE(random_state=0).fit(joined)
    assert np.isfinite(fit.atlas_.maps).all()


def test_tables_that_do_not_match_are_refused(data):
    first, second, third = data[1]
    fewer = second.subset(columns=np.arange(39))
    fitted = mm.CODE(random_state=0, max_iter=3).fit([first, second])
    for tables, message in (
        ([first, fewer], "1 word of the table of documents x words or of .*not in both: 'word39'"),
        ([first, first], "two tables of authors and words"),
        ([first, first.transposed()], "two tables of words and authors"),
        ([first, replace(second, kinds=("plot", "bird"))], "plots x birds has no kind in common"),
        ([first, replace(second, values=0 * second.values)], "documents x words contains no count"),
        ({}, "no tables"),
    ):
        with pytest.raises(mm.DataError, match=message):
            mm.CODE().fit(tables)
    for settings, options, message in (
        ({}, {"table_weights": [1]}, "2 positive numbers"),
        ({}, {"table_weights": [1, -1]}, "2 positive numbers"),
        ({}, {"row_similarities": np.eye(3)}, "row_similarities"),
    ):
        with pytest.raises(mm.ParameterError, match=message):
            mm.CODE(**settings).fit([first, second], **options)
    with pytest.raises(mm.DataError, match="transform requires a fit of one table"):
        fitted.transform(first)
    with pytest.raises(mm.DataError, match="no table of 'author x document'"):
        fitted.score([third])
    with pytest.raises(mm.DataError, match="several tables"):
        fitted.score(first)
