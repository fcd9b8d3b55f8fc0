"""
Which method finds the senses of words?
=======================================

Pairs of a word put into clusters, against the WordNet sense that each comes from; F is B-cubed
over words of two senses or more. Maps place senses; what finds them is the groups among a word's
neighbours (listed senses). Left, methods on the same network, maps from random positions; right,
what is clustered. ``python examples/word_sense_induction.py``
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
