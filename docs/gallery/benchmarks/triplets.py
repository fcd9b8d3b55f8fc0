"""
Odd-one-out judgements
======================

Accuracy on 20,000 held-out triplets of 100 objects, by the number of judgements per pair. The atlas
is fitted to the probabilities of all pairs, which a model of choice predicts from the judgements.
An atlas of the counts alone needs several times as many judgements. The data are simulated, with
two seeds; chance is 0.333. Command: ``python benchmarks/triplets.py``
"""

from stored import OTHER, OURS, PRINTED, panels, read

found = read("results/triplets.txt", "truth", "triplets", "ceiling")
lines = {"atlas": (OURS, "o"), "the model alone": ("black", "^"), "counts": (OTHER, "s"),
         "popularity": (PRINTED, "D")}  # fmt: skip
figure, axes = panels(2, height=3.5, sharey=True)
for axis, truth in zip(axes, ("themes", "dimensions"), strict=True):
    rows = [i for i, name in enumerate(found["truth"]) if name == truth]
    asked = [found["judgements per pair"][i] for i in rows]
    for name, (color, marker) in lines.items():
        axis.plot(asked, [found[name][i] for i in rows], color=color, marker=marker, markersize=4,
                  label=name)  # fmt: skip
    axis.plot(asked, [found["ceiling"][i] for i in rows], ":", color="0.4", label="ceiling")
    axis.set(title=truth, xlabel="judgements per pair", xscale="log", xticks=[1, 10],
             xticklabels=["1", "10"])  # fmt: skip
axes[0].set_ylabel("accuracy")
_ = figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=5,
                  frameon=False, fontsize=9)  # fmt: skip
