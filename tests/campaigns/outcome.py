"""What a campaign has come to: how many cases, and what was found, each with what repeats it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

__all__ = ["Finding", "Outcome"]


@dataclass(frozen=True)
class Finding:
    """A case that did not end as it must.

    Parameters
    ----------
    group : str
        What the campaign's table has a row for: a reader, an estimator, a signal, a module.
    what : str
        What happened, in one line.
    case : str
        What repeats it: a seed and a number, a call, a change of the source.
    """

    group: str
    what: str
    case: str


@dataclass
class Outcome:
    """Cases and findings of a campaign, by group.

    >>> outcome = Outcome("readers")
    >>> outcome.cases["atlas"] += 3
    >>> outcome.findings.append(Finding("atlas", "KeyError: 'meta'", "seed 0, case 2"))
    >>> print(outcome.summary())
    readers: 3 cases, 1 finding (atlas 1 of 3)
    """

    campaign: str
    cases: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)

    def summary(self) -> str:
        """One line: cases and findings, and the groups in which something was found."""
        found = Counter(finding.group for finding in self.findings)
        groups = ", ".join(f"{g} {n:,} of {self.cases[g]:,}" for g, n in sorted(found.items()))
        n = len(self.findings)
        return (
            f"{self.campaign}: {sum(self.cases.values()):,} cases, {n:,} "
            f"finding{'s' * (n != 1)}{f' ({groups})' * bool(groups)}"
        )
