"""Odd words survive every command."""

import manymaps as mm
from cli_samples import invoke, worked

LABELS = (
    'a "quoted" word', "\N{FAMILY}\N{ZERO WIDTH JOINER}\N{GRINNING FACE}", "x" * 10_000,
    "[red]$x^2$ <b>&amp;", "NA",
)  # fmt: skip


def test_odd_words_survive_every_command(write, tmp_path):
    quoted = ['"' + label.replace('"', '""') + '"' for label in LABELS]
    rows = [f"{word},knot,1\nknot,{word},1\nsuit,{word},1\n" for word in quoted]
    file, atlas = (
        write("norms.csv", "cue,response,strength\n" + "".join(rows)),
        tmp_path / "a.atlas",
    )
    worked(invoke("fit", file, "-o", atlas, "--maps", 2, "--iterations", 20))
    assert set(LABELS) < set(mm.load_atlas(atlas).labels)
    commands = [("read", file), ("export", atlas, "-o", tmp_path / "a.csv")]
    for label in LABELS:
        commands.append(("senses", atlas, label))
        commands.append(("plot", atlas, "-o", tmp_path / "a.svg", "--word", label))
    for arguments in commands:
        shown = worked(invoke(*arguments)).stdout
        assert max(map(len, shown.splitlines()), default=0) < 500
