"""CODE of three kinds of object: authors, documents and words of NIPS in one map.

    python examples/code_three_kinds.py [--quick] [-o FOLDER]

Globerson et al. (Euclidean embedding of co-occurrence data, JMLR 8, 2007, section 6.2) embed more
than two variables by a sum of the log-likelihoods of pairs of variables, in which each variable has
one set of positions. Here, the tables are

    authors x words        the words of a paper count for each of its authors
    documents x words
    authors x documents    1 for each author of a paper

The experiment hides the authors of every fifth paper. These papers remain in the table of documents
and words, but not in the other two tables. The script then ranks all authors by their distance from
each of these papers, and prints

    nats       the mean log-likelihood of the hidden authors, with q(a|d) ~ p(a) exp(-|a - d|^2)
    MRR        the mean reciprocal rank of a hidden author
    top 10     the share of hidden authors among the ten nearest

Two separate fits have no common axes. The first fit is therefore aligned by an isometry that brings
its words close to the words of the second fit. "One point" places all authors and documents at the
same position, which leaves the number of papers of an author, p(a). Correspondence analysis is
applied to the stacked tables of authors and documents by words. The cosine compares all words
instead of a map. Only authors with at least three papers are used. Standard errors are over hidden
authors.

The table of authors and documents has a single count in most of its rows and columns that are not
empty. With the same weight as the other tables, it draws papers to their authors and away from the
papers with hidden authors. The script therefore also fits a smaller weight, which the figure uses.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from scipy.special import logsumexp

import manymaps as mm
from lib.papers import Papers, parsed, read_papers
from manymaps.cooccurrence.correspondence import correspondence_analysis

# Authors with fewer papers have almost no words of their own if one paper is hidden.
LEAST_PAPERS = 3
HIDDEN = 5
# Weights of the table of authors and documents, relative to the other two tables. The table has one
# count per 390 pairs, and the other tables have two.
WEIGHTS = (1.0, 0.01)
NAMED = ("Sejnowski_T", "Jordan_M", "Koch_C", "Hinton_G", "Vapnik_V", "Singh_S")


def split(papers: Papers, n_words: int) -> tuple[list[mm.Counts], sparse.csr_array]:
    """Return the three tables, and the hidden authorships (n_documents, n_authors)."""
    words = papers.counts.most_frequent_columns(n_words)
    prolific = np.flatnonzero(np.asarray(papers.wrote.sum(axis=0)).ravel() >= LEAST_PAPERS)
    wrote = papers.wrote[:, prolific]
    is_hidden = np.arange(wrote.shape[0]) % HIDDEN == 0
    seen = sparse.csr_array(sparse.diags_array((~is_hidden).astype(float)) @ wrote)
    kept = np.asarray(seen.sum(axis=0)).ravel() > 0
    names = [papers.by_author.row_labels[i] for i in prolific[kept]]
    seen, wrote = seen[:, kept], wrote[:, kept]
    titles, vocabulary = words.row_labels, words.column_labels
    tables = [
        mm.Counts(seen.T @ words.values, names, vocabulary, kinds=("author", "word")),
        words,
        mm.Counts(seen.T, names, titles, kinds=("author", "document")),
    ]
    return tables, sparse.csr_array(sparse.diags_array(is_hidden.astype(float)) @ wrote)


def turned(rows: np.ndarray, words: np.ndarray, onto: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """Move rows by the isometry that brings their words closest to other positions of the words."""
    centre, other = mass @ words / mass.sum(), mass @ onto / mass.sum()
    left, _, right = np.linalg.svd((words - centre).T @ (mass[:, None] * (onto - other)))
    return (rows - centre) @ left @ right + other


def placements(
    tables: list[mm.Counts], settings: dict[str, Any]
) -> tuple[dict[str, tuple[np.ndarray, np.ndarray]], mm.Atlas]:
    """Return the positions of authors and documents by method, and the atlas of the last method."""
    authors, documents, _ = tables
    one, other = (mm.CODE(**settings).fit(table) for table in (authors, documents))
    stacked = sparse.vstack(
        [authors.values / authors.n_counts, documents.values / documents.n_counts]
    )
    axes = correspondence_analysis(stacked, 2, seed=0).rows
    shared = {"CODE of two tables": mm.CODE(**settings).fit(tables[:2])}
    for weight in WEIGHTS:
        fit = mm.CODE(**settings).fit(tables, table_weights=(1, 1, weight))
        shared[f"CODE of three, weight {weight}"] = fit
    for name, fit in shared.items():
        parts = ", ".join(f"{' x '.join(k)} {v:.4f}" for k, v in fit.log_likelihoods_.items())
        print(f"{name}, nats per count: {parts}; {fit.n_iter_} iterations")
    turn = turned(
        one.row_embedding_, one.column_embedding_, other.column_embedding_, documents.column_totals
    )
    n = authors.n_rows
    places = {
        "one point": (np.zeros((n, 1)), np.zeros((documents.n_rows, 1))),
        "correspondence analysis": (axes[:n], axes[n:]),
        "two separate fits, aligned": (turn, other.row_embedding_),
    }
    for name, fit in shared.items():
        places[name] = (fit.embeddings_["author"], fit.embeddings_["document"])
    return places, fit.atlas_


def print_row(name: str, logs: np.ndarray, hidden: sparse.csr_array, *, likelihood: bool) -> None:
    """Print the measures of a score (n_documents, n_authors), the log of q or a rank order."""
    rows, columns = hidden.nonzero()
    # Ties get the mean rank of their members.
    own = logs[rows, columns][:, None]
    ranks = 1 + (logs[rows] > own).sum(axis=1) + ((logs[rows] == own).sum(axis=1) - 1) / 2
    cells = []
    for values, digits in ((own[:, 0], 3), (1 / ranks, 3), (100 * (ranks <= 10), 1)):
        error = values.std(ddof=1) / np.sqrt(len(values))
        cells.append(f"{values.mean():.{digits}f} ({error:.{digits}f})")
    if not likelihood:
        cells[0] = ""
    print(f"  {name:28}{cells[0]:>18}{cells[1]:>18}{cells[2]:>16}")


def compare(
    tables: list[mm.Counts], hidden: sparse.csr_array, settings: dict[str, Any]
) -> mm.Atlas:
    """Print how well each method finds the hidden authors; return the atlas of all kinds."""
    places, atlas = placements(tables, settings)
    print(f"\n{'':30}{'nats (s.e.)':>18}{'MRR (s.e.)':>18}{'top 10, %':>16}")
    margin = np.log(tables[2].row_totals / tables[2].n_counts)
    for name, (authors, documents) in places.items():
        squared = cdist(documents, authors, "sqeuclidean")
        is_model = name != "correspondence analysis"
        logs = margin - squared if is_model else -squared
        logs = logs - logsumexp(logs, axis=1, keepdims=True)
        print_row(name, logs, hidden, likelihood=is_model)
    return atlas


def print_cosine(tables: list[mm.Counts], hidden: sparse.csr_array) -> None:
    """Print the measures of the cosine of all words, weighted by inverse document frequency."""
    documents = tables[1].values
    weights = np.log(documents.shape[0] / np.maximum((documents > 0).sum(axis=0), 1))
    sides = [np.log1p(table.values.toarray()) * weights for table in tables[1::-1]]
    print_row("cosine of all words", 1 - cdist(*sides, "cosine"), hidden, likelihood=False)


def print_neighbours(atlas: mm.Atlas) -> None:
    """Print the nearest objects of each kind for some authors and for one word."""
    print("\nNearest objects of each kind")
    for label in (*NAMED, "neuron", "kernel", "speech"):
        if label not in atlas.labels:
            continue
        for kind in ("author", "document", "word"):
            near = atlas.neighbors(label, neighbor_kind=kind, n_neighbors=5)
            head = label if kind == "author" else ""
            print(f"  {head:14}{kind + 's:':11}{', '.join(one.label for one in near)}")


def main() -> None:
    """Print the comparison, and draw the map of all kinds if requested."""
    arguments = parsed("CODE of authors, documents and words.")
    papers = read_papers()
    if papers is None:
        return
    n_words, max_iter = (200, 20) if arguments.quick else (2000, 300)
    tables, hidden = split(papers, n_words)
    print(f"{tables[0]}\n{tables[1]}\n{tables[2]}")
    print(f"{hidden.nnz:,} hidden authorships of {len(np.unique(hidden.nonzero()[0])):,} documents")
    settings = {"max_iter": max_iter, "penalty": 0.001, "random_state": 0}
    atlas = compare(tables, hidden, settings)
    print_cosine(tables, hidden)
    print_neighbours(atlas)
    if arguments.output is not None:
        arguments.output.mkdir(parents=True, exist_ok=True)
        figure = mm.plot_zooms(atlas, [name for name in NAMED[:4] if name in atlas.labels])
        mm.save_figure(figure, arguments.output / "three_kinds.png")
        mm.write_page(atlas, arguments.output / "three_kinds.html")
        print(f"wrote three_kinds.png and three_kinds.html to {arguments.output}")


if __name__ == "__main__":
    main()
