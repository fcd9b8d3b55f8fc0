"""
Speed over time
===============

Processor time of eight kernels and four whole jobs on one thread, as ratios to a fixed NumPy job in
the same process. The panels show the ratio of each commit relative to the first measured commit. A
value below 1 means that the task became faster. The machine also ran other programs, so values
between 0.8 and 1.25 are not evidence of a change. The tasks use the defaults of the commit. Every
line of ``benchmarks/history.jsonl`` is a commit, oldest first. A weekly workflow measures the
current commit. Command: ``python benchmarks/history.py -o benchmarks/history.jsonl``
"""

import json

from stored import DOCS, panels

lines = (DOCS.parent / "benchmarks" / "history.jsonl").read_text("utf-8").splitlines()
runs = [json.loads(line) for line in lines]  # oldest first
names = [f"{run['commit']}\n{run['date']}" for run in runs]
tasks = list(runs[-1]["ratios"])
figure, axes = panels(2, width=10, height=3.8, sharey=True)
for axis, title, chosen in ((axes[0], "kernels", tasks[:8]), (axes[1], "jobs", tasks[8:])):
    for task, marker in zip(chosen, "osv^D<>p", strict=False):
        ratios = [run["ratios"].get(task) for run in runs]
        first = next(ratio for ratio in ratios if ratio)
        known = [(k, ratio / first) for k, ratio in enumerate(ratios) if ratio]
        axis.plot(*zip(*known, strict=True), marker=marker, label=f"{task} ({ratios[-1]:.2g})")
    axis.set(xticks=range(len(runs)), xticklabels=names, title=title, yscale="log")
    axis.legend(fontsize=7, title="task (last ratio to NumPy)", title_fontsize=7, ncols=2)
_ = axes[0].set(ylabel="ratio to the first commit")
