"""Build the word associations that the package contains, from the LLM World of Words (LWOW).

    python scripts/build_word_associations.py [--lwow DIR] [-o FILE]

Source. `mistral_edges.csv.gz`, the network of the free associations that the language model Mistral
gave to 11,545 English cues (Abramski, Improta, Rossetti & Stella, Scientific Data 12, 803, 2025;
CC BY 4.0). A tie joins two words; its weight is a number of responses out of 100. The authors
removed responses that were given once, so weights range from 2 to 100.

Words. Single words of at least two letters a to z, without spaces, digits and hyphens. Among these,
the largest set of words that have at least `LEAST_TIES` ties of a weight of at least `STRONG` to
one another (the k-core of the strong ties). It leaves out words that hang on the network by a few
ties, and depends on no ranking.

Ties. All ties between two of these words, weak ones included.

The file is an uncompressed `.npz` without pickles or dates. The same table gives the same arrays.

    labels     uint8    the words, alphabetically, as UTF-8 joined by newlines
    indptr, indices     the ties in compressed sparse rows, each stored once: row < column
    weights    uint8    responses out of 100
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import os
import re
from pathlib import Path

import numpy as np
from scipy import sparse

# 11 strong ties give 4,032 words, 10 give 7,056. A cold demo then takes as long as one of the word
# relations does (20 maps: 11.4 s of computing for 500 iterations, 12.7 s for the relations).
LEAST_TIES = 11
STRONG = 5
WORD = re.compile(r"[a-z]{2,}")

EDGES = "mistral_edges.csv.gz"
DATA = Path(os.environ.get("MANYMAPS_DATA", Path(__file__).parents[2] / "shared" / "data"))
OUTPUT = Path(__file__).parents[1] / "src" / "manymaps" / "data" / "word_associations.npz"


def read_network(path: Path) -> tuple[list[str], sparse.csr_array]:
    """Read the ties between single words: labels, and a symmetric table of weights."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        ties = [
            (row["src"], row["tgt"], int(row["wt"]))
            for row in csv.DictReader(file)
            if WORD.fullmatch(row["src"]) and WORD.fullmatch(row["tgt"])
        ]
    labels = sorted({word for source, target, _ in ties for word in (source, target)})
    index = {word: i for i, word in enumerate(labels)}
    rows, columns = ([index[tie[end]] for tie in ties] for end in (0, 1))
    weights = np.array([tie[2] for tie in ties])
    once = sparse.csr_array((weights, (rows, columns)), shape=(len(labels), len(labels)))
    return labels, once + once.T


def well_connected(network: sparse.csr_array) -> np.ndarray:
    """Return the indices of the largest set of words with enough strong ties to one another."""
    strong = (network >= STRONG).astype(np.int64)
    members = np.ones(network.shape[0], dtype=bool)
    while True:
        enough = members & (strong @ members >= LEAST_TIES)
        if (enough == members).all():
            return np.flatnonzero(members)
        members = enough


def build(path: Path) -> bytes:
    """Return the content of the file that is made from a table of ties."""
    labels, network = read_network(path)
    words = well_connected(network)
    ties = sparse.csr_array(sparse.triu(network[words][:, words], format="csr"))
    ties.sort_indices()
    buffer = io.BytesIO()
    np.savez(
        buffer,
        allow_pickle=False,
        labels=np.frombuffer("\n".join(labels[i] for i in words).encode(), dtype=np.uint8),
        indptr=ties.indptr.astype("<i4"),
        indices=ties.indices.astype("<u2"),
        weights=ties.data.astype(np.uint8),
    )
    return buffer.getvalue()


def main() -> None:
    """Write the file and print its size."""
    parser = argparse.ArgumentParser(description="Build the word associations from LWOW.")
    parser.add_argument("--lwow", type=Path, default=DATA / "lwow", metavar="DIR")
    parser.add_argument("-o", "--output", type=Path, default=OUTPUT, metavar="FILE")
    options = parser.parse_args()
    edges = options.lwow / EDGES
    if not edges.is_file():
        parser.error(
            f"there is no {edges}; download the folder LWOW_datasets/graphs/edge_lists of "
            "github.com/LLMWorldOfWords/LWOW and pass it with --lwow"
        )
    content = build(edges)
    options.output.write_bytes(content)
    print(f"{options.output}: {len(content)} bytes")


if __name__ == "__main__":
    main()
