"""
Methods of word sense induction
===============================

Each method assigns the pairs of a word to clusters, which are compared with the WordNet senses of
the pairs. F is the B-cubed measure over words with at least two senses. The left panel compares
methods on the same network, with maps that start from random positions. The right panel compares
inputs of the clustering. The best results come from groups among the neighbours of a word, which
are the fine groups that `Atlas.senses` lists as parts of meanings; maps show where they are.
Command: ``python examples/word_sense_induction.py``
"""

from stored import OTHER, OURS, dots, panels, read

found = read("results/senses.txt", "word relations: F", "V")
kinds = read("results/senses.txt", "what is clustered", "F")
figure, (methods, variants) = panels(2, width=11, height=3.4, sharex=True)
for axis, names, scores in (
    (methods, found[""], found["word relations: F"]),
    (variants, kinds["what is clustered"], kinds["F"]),
):
    dots(axis, [name.partition(" (")[0] for name in names], {"": (scores, OTHER)})
    for place, (name, score) in enumerate(zip(names, scores, strict=True)):
        if name.endswith("maps") or axis is variants:
            axis.scatter(score, place, s=42, color=OURS, zorder=4)
    axis.set(xlabel="F", xlim=(0.48, 0.73))
    axis.tick_params(axis="y", labelsize=8)
methods.set_title("methods; maps in blue")
_ = variants.set_title("what is clustered")
