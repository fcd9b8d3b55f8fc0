"""A second file that spells the words of the atlas in other upper and lower case."""

import manymaps as mm
from cli_samples import invoke, worked, write_norms

NOTE = "matched regardless of upper and lower case"
NOTES = {
    "senses a.atlas tie": "a.atlas: 1 label {} ('tie' is 'TIE')",
    "pairs a.atlas pairs.csv": "pairs.csv: 3 labels {} ('tie' is 'TIE', 'knot' is 'KNOT', ",
    "evaluate a.atlas rated.csv": "rated.csv: 5 labels {} (",
    "evaluate a.atlas norms.csv": "norms.csv: 6 labels {} (",
    "insert a.atlas new.csv -o b.atlas": "new.csv: 2 labels {} (",
    "fit norms.csv --maps 2 --iterations 2 --init a.atlas -o b.atlas": "atlas: 6 labels {} (",
}


def test_commands_match_the_words_and_note_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    header, rows = write_norms(tmp_path).read_text(encoding="utf-8").split("\n", 1)
    (tmp_path / "capitals.csv").write_text(f"{header}\n{rows.upper()}", encoding="utf-8")
    norms = mm.read_associations("capitals.csv")
    mm.MultipleMapsTSNE(2, max_iter=20, random_state=0).fit(norms).atlas_.save("a.atlas")
    (tmp_path / "pairs.csv").write_text("word1,word2\ntie,knot\nrope,SUIT\n")
    rated = "tie,knot,6\ntie,suit,5\nrope,suit,1\nknot,rope,4\ndress,suit,6\nknot,suit,1\n"
    (tmp_path / "rated.csv").write_text(f"word1,word2,rating\n{rated}")
    (tmp_path / "new.csv").write_text("cue,response,strength\nbow,tie,0.8\ntie,rope,0.5\n")
    for line, note in NOTES.items():
        assert note.format(NOTE) in worked(invoke(*line.split())).stderr, line
