"""Runs campaigns and prints a line for each, after what each has found; fails where one has.

python -m campaigns [NAME ...] [--minutes M] [--seed S]
"""

from __future__ import annotations

import argparse
import importlib
import sys

CAMPAIGNS = ("estimators", "invariances", "mutants")


def main() -> int:
    """Run each campaign for its part of the time."""
    parser = argparse.ArgumentParser(prog="campaigns", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(CAMPAIGNS)}")
    parser.add_argument("--minutes", type=float, default=60.0, help="for all of them together")
    parser.add_argument("--seed", type=int, default=0, help="another one gives other cases")
    asked = parser.parse_args()
    names = asked.names or CAMPAIGNS
    summaries = []
    found = 0
    for name in names:
        campaign = importlib.import_module(f"campaigns.{name}")
        outcome = campaign.run(60 * asked.minutes / len(names), asked.seed)
        found += len(outcome.findings)
        for finding in outcome.findings:
            print(f"{name}, {finding.group}: {finding.what} [{finding.case}]", flush=True)
        summaries.append(outcome.summary())
    print("\n".join(summaries))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
