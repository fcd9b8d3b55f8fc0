"""Do fits still have the same bits? Hashes of maps, proportions and costs of typical fits.

    python benchmarks/bits.py [--fits digits norms-5 ...] [--output before.json]
    python benchmarks/bits.py --against before.json

Each line shows a fit, the first digits of its hash, the divergence or another cost, and the seconds
of the fit. With --against, fits whose hash differs from the file are marked, and the exit status
is 1. Hashes are equal on one machine at any number of threads. They differ between processors, so
they are not stored. Fits of MNIST and of the USF norms require the data in MANYMAPS_DATA.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from tsne import mnist

import manymaps as mm

DATA = Path(os.environ.get("MANYMAPS_DATA", Path(__file__).parents[2] / "shared" / "data"))
NORMS = DATA / "usf" / "usf_free_association.tsv.gz"

Parts = Iterable[Any]


def papers_model(estimator: type, *arguments: Any, **settings: Any) -> Any:
    """Make an estimator with the model of the papers for associations."""
    return estimator(*arguments, penalty=0, random_state=0, **settings)


def fitted(estimator: Any, data: Any) -> Parts:
    """Fit a map estimator; return its maps, proportions and divergence."""
    estimator.fit(data)
    return estimator.atlas_.maps, estimator.atlas_.proportions, estimator.kl_divergence_


def tsne(points: np.ndarray, **settings: Any) -> Parts:
    return fitted(mm.TSNE(random_state=0, **settings), points)


def clump() -> np.ndarray:
    """Draw 8,000 points, a quarter of which coincide."""
    points = np.random.default_rng(0).normal(size=(8_000, 10))
    points[::4] = 3
    return points


def clusters(data: Any) -> Parts:
    model = mm.AdditiveClustering(8, random_state=0).fit(data)
    return model.memberships_, model.weights_, model.variance_accounted_for_


def prediction() -> Parts:
    split = mm.split_associations(mm.load_word_associations(), random_state=0)
    model = mm.AssociationPredictor(2, 35, max_iter=50, random_state=0)
    model.fit(split.train, validation=split.validation)
    atlas, errors = model.atlas_, model.history_["validation"]
    return atlas.maps, atlas.proportions, errors, errors[-1]


def program() -> Parts:
    counts = np.random.default_rng(0).poisson(3, (12, 8))
    model = mm.SemidefiniteCODE(2, trace_penalty=0.1).fit(counts)
    return model.row_embedding_, model.column_embedding_, model.log_likelihood_


def insertion() -> Parts:
    points, kept = load_digits().data, 1_500
    model = mm.TSNE(random_state=0).fit(points[:kept])
    inserted = mm.insert(model.atlas_, points[kept:], vectors=points[:kept])
    return inserted.atlas.maps, model.transform(points[kept:]), 0.0


def code(n_maps: int) -> Parts:
    model = mm.CODE(n_maps=n_maps, max_iter=100, random_state=0).fit(load_digits().data)
    return model.atlas_.maps, model.atlas_.proportions, model.log_likelihood_


def associations() -> Any:
    return mm.load_word_associations()


FITS: dict[str, Callable[[], Parts]] = {
    "digits": lambda: tsne(load_digits().data),
    "mnist-5000": lambda: tsne(mnist(5_000)),
    "mnist-20000": lambda: tsne(mnist(20_000)),
    "clump-3d": lambda: tsne(clump(), n_components=3, max_iter=300),
    "norms-1": lambda: fitted(papers_model(mm.MultipleMapsTSNE, 1), associations()),
    "norms-5": lambda: fitted(papers_model(mm.MultipleMapsTSNE, 5), associations()),
    "norms-default": lambda: fitted(mm.MultipleMapsTSNE(5, random_state=0), associations()),
    "usf-40": lambda: fitted(
        papers_model(mm.MultipleMapsTSNE, 40, max_iter=100), mm.read_associations(NORMS)
    ),
    "aspect-maps": lambda: fitted(
        papers_model(mm.AspectMaps, 5, max_iter=50), associations()
    ),
    "uni-sne": lambda: fitted(mm.UniSNE(max_iter=100, random_state=0), load_digits().data),
    "sne": lambda: fitted(mm.SNE(max_iter=100, random_state=0), load_digits().data),
    "code-1": lambda: code(1),
    "code-3": lambda: code(3),
    "program": program,
    "integers": lambda: clusters(mm.load_integers()),
    "consonants": lambda: clusters(mm.load_consonants()),
    "prediction": prediction,
    "insertion": insertion,
}  # fmt: skip


def hash_of(parts: Parts) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


def main() -> int:
    parser = argparse.ArgumentParser(description="Hash the results of typical fits.")
    parser.add_argument("--fits", nargs="+", choices=FITS, default=list(FITS), metavar="NAME")
    parser.add_argument("--output", type=Path, help="file to write the hashes to (JSON)")
    parser.add_argument("--against", type=Path, help="earlier output to compare with")
    arguments = parser.parse_args()
    earlier = json.loads(arguments.against.read_text("utf-8")) if arguments.against else {}
    hashes, n_changed = {}, 0
    warnings.simplefilter("ignore")
    for name in arguments.fits:
        began = time.perf_counter()
        parts = list(FITS[name]())
        seconds = time.perf_counter() - began
        hashes[name] = hash_of(parts)
        is_changed = earlier.get(name, hashes[name]) != hashes[name]
        n_changed += is_changed
        mark = "  changed" if is_changed else ""
        print(
            f"{name:<14} {hashes[name][:12]}  {parts[-1]:<12.7g} {seconds:6.1f} s{mark}", flush=True
        )
        if arguments.output:
            arguments.output.write_text(json.dumps(hashes, indent=1), "utf-8")
    return n_changed > 0


if __name__ == "__main__":
    sys.exit(main())
