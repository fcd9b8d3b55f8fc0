"""
Detect words that changed
=========================

In one of two samples of the same norms, a share of the responses of 30 words was exchanged for
those of another word. The bars show how many of these words `compare` finds at a false discovery
rate of 5 %, by word and by sense. For comparison, they also show how many are among the 30 words
with the smallest cosine, a method that requires knowing that 30 words changed. Values are means of
three repeats. Command: ``python benchmarks/comparison.py``
"""

from stored import OTHER, OURS, PRINTED, panels, read

found = read("results/comparison.txt", "30 words swapped", "share", "words found")
figure, axes = panels(2, height=3.2, sharey=True)
for k, (axis, name) in enumerate(zip(axes, ("USF norms", "word relations"), strict=True)):
    start = [i for i, cell in enumerate(found["30 words swapped"]) if cell][k]
    rows = [
        i for i in range(start, min(start + 5, len(found["share"]))) if found["share"][i] != "none"
    ]
    shares = [found["share"][i].removeprefix("a ") for i in rows]
    for what, color, shift in (("words found", OURS, -0.26), ("by a sense", OTHER, 0),
                               ("by cosine", PRINTED, 0.26)):  # fmt: skip
        heights = [float(found[what][i]) for i in rows]
        axis.bar([j + shift for j in range(len(rows))], heights, 0.24, color=color, label=what)
    axis.set(title=name, xticks=range(len(rows)), xticklabels=shares, xlabel="exchanged share")
    axis.grid(visible=False, axis="x")
axes[0].set_ylabel("words (of 30)")
_ = figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3,
                  frameon=False)  # fmt: skip
