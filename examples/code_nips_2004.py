"""CODE of NIPS papers: documents with their words, and authors with theirs.

    python examples/code_nips_2004.py [--quick] [-o FOLDER]

The script reproduces figures 2 and 3 of A. Globerson, G. Chechik, F. Pereira & N. Tishby, Euclidean
embedding of co-occurrence data (NIPS 2004):

    documents   every paper and the 2,000 most frequent words, coloured by the section of the
                proceedings if one is known
    authors     the 250 authors with most words and the 2,000 most frequent words of these; the
                words of a paper count for each of its authors

Both are in two dimensions, with the models p(word | document) and p(word | author). The script
prints the words nearest to the documents of each section, the purity of sections (compared with
correspondence analysis, and with randomly placed papers), and the nearest words and authors of some
authors. Neither the model nor the positions depend on sections.

The papers here are those of volumes 0 to 12; the paper's authors had more volumes. They omitted the
100 most frequent words, which are mostly stop words. This copy contains no stop words, so no words
are omitted.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import manymaps as mm
from lib.papers import parsed, read_papers
from manymaps.cooccurrence.correspondence import correspondence_analysis
from manymaps.metrics.groups import group_purity

LARGE_SECTION = 40
NAMED = ("Sejnowski_T", "Jordan_M", "Scholkopf_B", "Koch_C")
ALSO_NAMED = ("Vapnik_V", "Hinton_G", "Mead_C", "Singh_S", "Waibel_A")


def fit(counts: mm.Counts, max_iter: int) -> mm.CODE:
    """Fit CODE in two dimensions, and print a line about the fit."""
    found = mm.CODE.globerson_2004().set_params(max_iter=max_iter, random_state=0).fit(counts)
    margins = counts.column_totals / counts.n_counts
    blind = float(np.sum(margins * np.log(margins)))
    rows, columns = counts.kinds
    print(
        f"{counts.n_rows:,} {rows}s and {counts.n_columns:,} {columns}s, {counts.n_counts:,.0f} "
        f"counts: {found.log_likelihood_:.4f} nats a count, {blind:.4f} without {rows}s, "
        f"{found.n_iter_} iterations"
    )
    return found


def print_sections(atlas: mm.Atlas, sections: np.ndarray) -> None:
    """Print words that are nearer to the documents of a section than to all."""
    is_word = atlas.of_kind("word")
    near = np.array([atlas.choices.nearness(i, is_word)[0] for i in range(len(sections))])
    of_all = near.mean(axis=0)
    print("\nWords of sections: nearest to their documents, relative to all documents")
    for name, size in large_sections(sections):
        lift = near[sections == name].mean(axis=0) / np.where(is_word, of_all, np.inf)
        words = [atlas.labels[j] for j in np.argsort(-lift, kind="stable")[:8]]
        print(f"  {name} ({size}): {', '.join(words)}")


def large_sections(sections: np.ndarray) -> list[tuple[str, int]]:
    """List sections of many papers, the largest first."""
    names, sizes = np.unique(sections[sections != ""], return_counts=True)
    order = np.argsort(-sizes, kind="stable")
    return [(str(names[i]), int(sizes[i])) for i in order if sizes[i] >= LARGE_SECTION]


def print_purity(fitted: mm.CODE, counts: mm.Counts, sections: np.ndarray) -> None:
    """Print how many neighbours of a document belong to its section, for large sections."""
    chosen = np.isin(sections, [name for name, _ in large_sections(sections)])
    groups = sections[chosen]
    places = {
        "CODE": fitted.row_embedding_,
        "correspondence analysis": correspondence_analysis(counts.values, seed=0).rows,
        "by chance": np.random.default_rng(0).normal(size=(len(sections), 2)),
    }
    print(f"\nPurity of {len(np.unique(groups))} sections, {len(groups):,} documents, in %")
    print(f"{'':26}{'nearest':>9}{'10':>9}{'100':>9}{'all sizes':>11}")
    for name, rows in places.items():
        purity = group_purity(rows[chosen], groups)
        cells = "".join(
            f"{100 * purity.curve[min(k, len(purity.curve)) - 1]:9.1f}" for k in (1, 10, 100)
        )
        print(f"{name:26}{cells}{100 * purity.mean:11.1f}")


def print_authors(atlas: mm.Atlas) -> None:
    """Print the nearest words and authors of some authors."""
    print("\nNearest words and authors")
    for name in (*NAMED, *ALSO_NAMED):
        if name not in atlas.labels:
            continue
        for kind in ("word", "author"):
            found = atlas.neighbors(name, kind="author", neighbor_kind=kind, n_neighbors=8)
            head = name if kind == "word" else ""
            print(f"  {head:14}{kind + 's:':9}{', '.join(one.label for one in found)}")


def with_sections(atlas: mm.Atlas, sections: np.ndarray) -> mm.Atlas:
    """Add a column "section" to the atlas, empty for words."""
    column = np.concatenate([sections, np.full(atlas.n_objects - len(sections), "")])
    return replace(atlas, metadata={"section": column})


def draw(atlas: mm.Atlas, middle: np.ndarray, color: str | None, path: Path) -> None:
    """Draw a map, and a box around a position, a fifth of the map wide and high."""
    (x, y), (width, height) = middle, 0.1 * np.ptp(atlas.maps[0], axis=0)
    mm.save_figure(mm.plot_map(atlas, color=color), path.with_suffix(".png"))
    part = mm.plot_map(atlas, view=(x - width, x + width, y - height, y + height), color=color)
    mm.save_figure(part, path.with_name(f"{path.name}_part.png"))
    print(f"wrote {path}.png and {path}_part.png")


def main() -> None:
    """Print the nearest words of sections and authors, and draw the figures if requested."""
    arguments = parsed("Figures 2 and 3 of Globerson et al. 2004.")
    papers = read_papers()
    if papers is None:
        return
    n_words, max_iter = (400, 30) if arguments.quick else (2000, 1000)
    counts = papers.counts.most_frequent_columns(n_words)
    full = counts.row_totals > 0
    counts, sections = counts.subset(rows=full), papers.sections[full]
    print(f"{np.mean(sections != ''):.0%} of {len(sections):,} documents have a section")
    fitted = fit(counts, max_iter)
    documents = with_sections(fitted.atlas_, sections)
    print_sections(documents, sections)
    print_purity(fitted, counts, sections)
    most = np.argsort(-papers.by_author.row_totals, kind="stable")[:250]
    print()
    by_author = papers.by_author.subset(rows=most).most_frequent_columns(n_words)
    authors = fit(by_author, max_iter).atlas_
    print_authors(authors)
    if arguments.output is not None:
        arguments.output.mkdir(parents=True, exist_ok=True)
        largest, _ = large_sections(sections)[0]
        middle = np.median(documents.maps[0, : len(sections)][sections == largest], axis=0)
        draw(documents, middle, "section", arguments.output / "documents")
        middle = authors.maps[0, authors.index(NAMED[0])]
        draw(authors, middle, None, arguments.output / "authors")


if __name__ == "__main__":
    main()
