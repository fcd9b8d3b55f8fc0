"""Every command: the keys of its --json, and its progress while it works."""

import json
import threading
from pathlib import Path

import pytest

from cli_samples import invoke, worked, write_norms, write_vectors
from manymaps import progress
from manymaps.cli import cli
from sweep_samples import write_ring

SHORT = "--maps 2 --iterations 5"
# The keys, which other programs read, and the work that is shown. Outputs are inputs of later ones.
EACH = [
    ("read norms.csv", "kind n_objects n_pairs symmetric n_components merged dropped notes",
     "reading norms.csv"),
    ("read posts.csv --kind texts -o counts.npz", "kind n_rows n_columns n_counts seconds output",
     "writing counts.npz"),
    ("diagnose norms.csv", "asymmetry intransitivity centrality max_shared_nearest_neighbor "
     "suggested_maps", "diagnosing 6 words"),
    (f"fit norms.csv -o norms.atlas {SHORT}", "method model n_objects n_pairs n_maps n_components "
     "n_iterations kl_divergence converged seconds output", "fitting norms.csv"),
    ("fit words.vec -o words.atlas --method tsne --perplexity 5 --iterations 5", "kl_divergence",
     "fitting words.vec"),
    ("senses norms.atlas tie", "word kind covered not_close senses/map senses/proportion "
     "senses/share senses/name senses/neighbors/label senses/neighbors/strength", "listing"),
    ("pairs norms.atlas pairs.csv", "n_pairs n_known unknown pairs output", "word"),
    ("insert words.atlas more.vec -o more.atlas", "inserted dissimilar n_objects seconds output",
     "placing the new objects"),
    ("evaluate words.atlas words.vec", "kl_divergence mu_local mu_local_se mu_global mu_global_se "
     "trustworthiness continuity nearest_among_10", "measuring"),
    ("predict ring.csv --maps 1 --dims 2 --iterations 5", "train valid test n_iterations "
     "shares/test uniform/test recall_at_10 mean_reciprocal_rank seconds",
     "fitting 1 map of 2 dimensions"),
    ("predict ring.csv --maps 1,2 --dims 2 --iterations 5", "rows/train rows/valid rows/test "
     "rows/n_iterations seconds", "fitting 2 maps of 2 dimensions"),
    ("cluster ring.csv --clusters 2", "variance_accounted_for constant clusters/weight "
     "clusters/members solutions n_missing converged", "finding 2 clusters"),
    (f"stability norms.csv -o stable.atlas --fits 2 {SHORT}", "n_fits n_objects n_senses reference "
     "recurrence/observed recurrence/by_other_words overlap/by_dealing map_similarity words "
     "map_similarity_by_chance explained recurring seconds output", "fitting norms.csv 2 times"),
    ("compare norms.csv others.csv", "groups/name groups/n_responses units n_words n_changed "
     "n_senses alpha min_effect effect/median changes senses notes seed seconds output table",
     "permuting responses of"),
    ("view norms.atlas -o norms.html", "n_objects n_maps output bytes", "writing norms.html"),
    ("export norms.atlas -o table.csv", "output n_objects left_out", "writing table.csv"),
]  # fmt: skip


def test_keys_and_progress_of_each_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    others = write_norms(tmp_path).read_text(encoding="utf-8").replace("knot,1\n", "knot,9\n")
    (tmp_path / "others.csv").write_text(others, encoding="utf-8")
    write_ring(tmp_path / "ring.csv")
    write_vectors(tmp_path / "words.vec", slice(30))
    write_vectors(tmp_path / "more.vec")
    (tmp_path / "pairs.csv").write_text("word1,word2\ntie,knot\n", encoding="utf-8")
    (tmp_path / "posts.csv").write_text("id,text\na,bow tie\nb,tie knot\n", encoding="utf-8")
    seen: list[str] = []
    usual = progress.Work.__init__

    def noted(self: progress.Work, what: str, total: int | None = None) -> None:
        # Threads of joblib compile unseen, and only if no other process has compiled before.
        if threading.current_thread() is threading.main_thread():
            assert progress._WATCHER.get() is not None, what
            seen.append(what)
        usual(self, what, total)

    monkeypatch.setattr(progress.Work, "__init__", noted)
    # `demo` fits as `fit` does, and `plot` has no --json.
    assert {line.split()[0] for line, *_ in EACH} == set(cli.commands) - {"demo", "plot"}
    for line, keys, shown in EACH:
        seen.clear()
        record = json.loads(worked(invoke(*line.split(), "--json")).stdout)
        assert any(what.startswith(shown) for what in seen), (line, seen)
        for key in keys.split():
            part = record
            for name in key.split("/"):
                part = part[0] if isinstance(part, list) else part
                assert name in part, f"{line}: {key}"
                part = part[name]
