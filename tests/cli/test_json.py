"""The keys of --json, which other programs read: more may be added, none may be lost."""

import json

from cli_samples import invoke, worked, write_norms, write_vectors
from sweep_samples import write_ring

SHORT = "--maps 2 --iterations 5"
KEYS = {
    "read norms.csv": "kind n_objects n_pairs symmetric n_components merged dropped notes",
    "diagnose norms.csv": "asymmetry intransitivity centrality max_shared_nearest_neighbor "
    "suggested_maps",
    f"fit norms.csv -o norms.atlas {SHORT}": "method n_objects n_pairs n_maps n_components "
    "n_iterations kl_divergence seconds output",
    "fit words.vec -o words.atlas --method tsne --perplexity 5 --iterations 5": "kl_divergence",
    "senses norms.atlas tie": "word senses "
    "senses/map senses/proportion senses/share senses/neighbors",
    "pairs norms.atlas pairs.csv": "n_pairs n_known unknown pairs output",
    "insert words.atlas more.vec -o more.atlas": "inserted dissimilar n_objects seconds output",
    "evaluate words.atlas words.vec": "kl_divergence mu_local mu_global nearest_among_10",
    "predict ring.csv --maps 1 --dims 2 --iterations 5": "train valid test n_iterations seconds",
    "predict ring.csv --maps 1,2 --dims 2 --iterations 5": "rows/train rows/valid rows/test "
    "rows/n_iterations seconds",
    "read posts.csv --kind texts -o counts.npz": "kind n_rows n_columns n_counts seconds output",
    "cluster ring.csv --clusters 2": "variance_accounted_for constant clusters "
    "clusters/weight clusters/members",
    f"stability norms.csv -o stable.atlas --fits 2 {SHORT}": "n_fits n_objects recurrence overlap "
    "map_similarity map_similarity_by_chance explained words seconds output",
    "compare norms.csv others.csv": "groups n_words n_changed changes "
    "seconds",
    "view norms.atlas -o norms.html": "n_objects n_maps output bytes",
    "export norms.atlas -o table.csv": "output",
}  # fmt: skip


def test_keys_of_each_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    others = write_norms(tmp_path).read_text(encoding="utf-8").replace("knot,1\n", "knot,9\n")
    (tmp_path / "others.csv").write_text(others, encoding="utf-8")
    write_ring(tmp_path / "ring.csv")
    write_vectors(tmp_path / "words.vec", slice(30))
    write_vectors(tmp_path / "more.vec")
    (tmp_path / "pairs.csv").write_text("word1,word2\ntie,knot\n", encoding="utf-8")
    (tmp_path / "posts.csv").write_text("id,text\na,bow tie\nb,tie knot\n", encoding="utf-8")
    for command, keys in KEYS.items():
        record = json.loads(worked(invoke(*command.split(), "--json")).stdout)
        for key in keys.split():
            part = record
            for name in key.split("/"):
                part = part[0] if isinstance(part, list) else part
                assert name in part, f"{command}: {key}"
                part = part[name]
