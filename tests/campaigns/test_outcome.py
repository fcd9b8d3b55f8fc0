"""The line that sums a campaign up."""

from campaigns.outcome import Finding, Outcome


def test_nothing_found():
    outcome = Outcome("readers")
    outcome.cases.update(atlas=2, counts=1_000)
    assert outcome.summary() == "readers: 1,002 cases, 0 findings"


def test_groups_with_findings_are_named():
    outcome = Outcome("estimators")
    outcome.cases.update(TSNE=5, CODE=4)
    outcome.findings += [Finding("TSNE", "nan", "3"), Finding("TSNE", "inf", "4")]
    assert outcome.summary() == "estimators: 9 cases, 2 findings (TSNE 2 of 5)"
