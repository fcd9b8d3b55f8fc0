"""
CODE compared with autograd and correspondence analysis
=======================================================

Time and memory of two-dimensional embeddings of all 18,846 posts of 20 Newsgroups and 2,000 or
20,000 words, on two cores. An implementation of the same likelihood in PyTorch takes twenty times
as long for 20 iterations; it was not run with 20,000 words. CODE starts from correspondence
analysis, which is sparse in manymaps and dense in prince. Command: ``python
benchmarks/cooccurrence.py --dims 2``
"""

from stored import OTHER, OURS, dots, panels, read

found = read("results/cooccurrence.txt", "program", "seconds")
names = [f"{program}, {int(words):,} words" for program, words in
         zip(found["program"], found["words"], strict=True)]  # fmt: skip
figure, (seconds, memory) = panels(2, width=9, height=3, sharey=True)
for axis, column, ticks in ((seconds, "seconds", [1, 10, 100]), (memory, "peak, GB", [0.1, 1, 10])):
    dots(axis, names, {"": (found[column], OURS)})
    for place, (name, value) in enumerate(zip(names, found[column], strict=True)):
        if name.startswith(("torch", "prince")):
            axis.scatter(value, place, s=42, color=OTHER, zorder=4)
        axis.annotate(f"{value:g}", (value, place), (7, 0), textcoords="offset points", va="center",
                      fontsize=9)  # fmt: skip
    axis.set(title=column, xscale="log", xticks=ticks, xticklabels=[f"{tick:g}" for tick in ticks])
    axis.margins(x=0.2)
