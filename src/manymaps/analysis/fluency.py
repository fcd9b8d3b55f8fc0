"""Networks of fluency lists, in which participants name words of a category, such as animals.

    window     two words occur at most w positions apart in more lists than by chance
               (Goni et al. 2011, the conceptual network)
    walk       two words are neighbours in a list (Lerner, Ogrocki & Thomas 2009, the naive random
               walk)
    pearson    correlation of the presence of two words in the lists (Kenett et al. 2013)
    cosine     cosine of the presence of two words in the lists (Christensen & Kenett 2021)

**Chance.** Words i and j occur in f_i and f_j of N lists, which have L words on average. Two random
positions in a list are at most w apart with the probability r. By chance, the number k_ij of lists
in which i and j are at most w apart is therefore binomial (Goni et al. 2011, equation 10):

    r     =  2 / (L (L - 1)) (w L - w (w + 1) / 2)
    p_ij  =  r f_i f_j / N^2
    k_ij  ~  Binomial(N, p_ij)

Words are linked if p_ij is below the Clopper-Pearson interval of k_ij / N at the level 1 - alpha.
This is the case if P(K >= k_ij) < alpha / 2. The tests are not corrected for the number of pairs.

**Presence.** The column b_i of a table contains 1 for each list with word i, and 0 otherwise. The
strengths are the positive Pearson correlations or the cosines of b_i and b_j.

J. Goni et al., "The semantic organization of the animal category: evidence from semantic verbal
fluency and network theory", Cogn. Process. 12 (2011). A. J. Lerner, P. K. Ogrocki & P. J. Thomas,
"Network graph analysis of category fluency testing", Cogn. Behav. Neurol. 22 (2009). Y. N. Kenett
et al., "Semantic organization in children with cochlear implants", Front. Psychol. 4 (2013).
A. P. Christensen & Y. N. Kenett, "Semantic network analysis (SemNA)", Psychol. Methods (2021).
M. D. Humphries & K. Gurney, "Network 'small-world-ness'", PLoS ONE 3 (2008).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, NamedTuple, get_args

import numpy as np
from scipy import sparse, special
from scipy.sparse import csgraph

from manymaps.analysis.network import networkx_library
from manymaps.checks import check_choice, check_number, check_whole
from manymaps.data.associations import Associations
from manymaps.data.pair_rules import NumberedPairs, Rules, apply_rules
from manymaps.data.trials import Trials, without_repeats
from manymaps.errors import DataError, setting
from manymaps.labels import listed

#: Kinds of networks of fluency lists.
Network = Literal["window", "walk", "pearson", "cosine"]


def fluency_network(
    lists: Trials,
    network: Network = "window",
    *,
    window: int = 2,
    alpha: float = 0.05,
    min_lists: int = 2,
    rows: str = "renormalize",
) -> Associations:
    """Compute the network of words in fluency lists.

    Parameters
    ----------
    lists : Trials
        Fluency lists of one category, with one list per trial (`read_fluency`).
    network : {"window", "walk", "pearson", "cosine"}
        With "window", words are linked if they occur close to one another in more lists than by
        chance. With "walk", neighbours are linked. With "pearson" and "cosine", a link depends only
        on the lists in which words occur, and not on their positions.
    window : int, at least 1
        Maximum distance of two words in a list, in positions ("window" only).
    alpha : float in (0, 1]
        Level of the binomial test of each pair. With 1, pairs are not tested ("window" only).
    min_lists : int, at least 1
        Minimum number of lists in which two words occur close to one another ("window"), or in
        which a word occurs ("pearson" and "cosine").
    rows : {"renormalize", "keep"}
        Whether to scale each row to a sum of 1, as conditional models require, or to keep the
        number of lists, the correlation or the cosine.

    Returns
    -------
    Associations
        Associations of the linked words, which are symmetric before rows are scaled. The report
        contains the number of dropped pairs by reason.

    Raises
    ------
    DataError
        If the lists have several categories, or if no link remains.
    ParameterError
        If a parameter is out of its range.

    See Also
    --------
    read_fluency, fluency_trials, network_statistics

    Notes
    -----
    Each list counts as one observation, including several lists by the same participant. A word is
    counted once per list, and its repetitions are ignored.

    References
    ----------
    J. Goni et al. (2011). The semantic organization of the animal category: evidence from semantic
    verbal fluency and network theory. Cognitive Processing 12, 183-196.

    A. P. Christensen & Y. N. Kenett (2021). Semantic network analysis (SemNA): a tutorial on
    preprocessing, estimating, and analyzing semantic networks. Psychological Methods.

    Examples
    --------
    >>> from manymaps import fluency_network
    >>> from manymaps.datasets import make_fluency_lists
    >>> lists = make_fluency_lists(40, 3, 5, length=8, random_state=0).lists
    >>> network = fluency_network(lists, rows="keep")
    >>> i, j = network.index("a1"), network.index("a2")
    >>> network.n_pairs // 2, network.strengths[i, j].item()  # links, and lists with this pair
    (15, 13.0)
    """
    check_lists(lists)
    check_choice("network", network, get_args(Network))
    check_whole("window", window)
    check_number("alpha", alpha, above=0, most=1)
    check_whole("min_lists", min_lists)
    sequence = _sequence(lists)
    if network in ("pearson", "cosine"):
        pairs = _presence(sequence, network == "pearson", min_lists)
    elif network == "walk":
        pairs = _windowed(sequence, 1, 1.0, 1)
    else:
        pairs = _windowed(sequence, window, alpha, min_lists)
    if not pairs.strength.size:
        wider = ", a wider window or a larger alpha" if network == "window" else ""
        raise DataError(
            f"{lists.report.source}: no two words are linked in {sequence.n_lists:,} lists by "
            f"{setting('network', network)}; use more lists{wider}"
        )
    return _associations(lists, pairs, rows)


def fluency_trials(lists: Trials, window: int = 2) -> Trials:
    """Convert fluency lists to trials, in which neighbours in a list are responses to a word.

    Each word of a list is a cue, and each word at most `window` positions before or after it is a
    response. The trials retain the participants and columns of the lists. Therefore, participants
    can be compared and resampled as for association norms.

    Parameters
    ----------
    lists : Trials
        Fluency lists of one category (`read_fluency`).
    window : int, at least 1
        Maximum distance of two words in a list, in positions.

    Returns
    -------
    Trials
        Trials with one response each.

    Raises
    ------
    DataError
        If the lists have several categories, or if no list has two words.
    ParameterError
        If the window is not a whole number of at least 1.

    See Also
    --------
    fluency_network, compare, intervals, resampled

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Trials, fluency_trials
    >>> lists = Trials(["animals"], ["cat", "dog", "cow"], [0], np.array([[0, 1, 2]]))
    >>> trials = fluency_trials(lists, window=1)
    >>> [(trials.cues[c], trials.answers[a]) for c, a in zip(trials.cue, trials.given[:, 0])]
    [('cat', 'dog'), ('dog', 'cow'), ('dog', 'cat'), ('cow', 'dog')]
    """
    check_lists(lists)
    check_whole("window", window)
    near = _near(_sequence(lists), window)
    if not near.first.size:
        raise DataError(f"{lists.report.source}: no list has two different words")
    rows = np.concatenate([near.row, near.row])
    cue = np.concatenate([near.first, near.second])
    answer = np.concatenate([near.second, near.first])
    size = f"neighbours within {window} positions in {lists.n_trials:,} lists"
    report = replace(lists.report, n_read=rows.size, dropped={}, notes=(size,))
    return Trials(
        lists.answers,
        lists.answers,
        cue,
        answer[:, None],
        None if lists.participant is None else lists.participant[rows],
        lists.participants,
        {name: values[rows] for name, values in lists.columns.items()},
        report,
    )


def network_statistics(network: Associations, random_state: int = 0) -> dict[str, float]:
    """Compute the statistics of a network that studies of fluency report.

    The network is treated as undirected and unweighted. All statistics except the first two refer
    to its largest connected component.

    Parameters
    ----------
    network : Associations
        The network, for example from `fluency_network`.
    random_state : int
        Seed of the search for communities.

    Returns
    -------
    dict of str to float
        Statistics by name, as listed in the notes.

    Raises
    ------
    DataError
        If no two words are linked.
    ImportError
        If networkx is not installed.

    See Also
    --------
    fluency_network, node_measures

    Notes
    -----
    The statistics of a component with n words are::

        n_words, n_links    numbers of words and of linked pairs in the whole network
        n_connected         number of words in the largest component, n
        mean_degree         mean number of neighbours, d
        path_length         mean length of the shortest paths, L
        clustering          mean clustering coefficient, C
        modularity          modularity of the communities that the Louvain method finds
        n_communities       number of these communities
        small_worldness     (C / (d / n)) / (L / (ln n / ln d)), or NaN if d is not above 1

    References
    ----------
    M. D. Humphries & K. Gurney (2008). Network 'small-world-ness': a quantitative method for
    determining canonical network equivalence. PLoS ONE 3, e0002051.

    Examples
    --------
    >>> from scipy import sparse
    >>> from manymaps import Associations, network_statistics
    >>> ring = sparse.csr_array([[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0]])
    >>> found = network_statistics(Associations(["cat", "dog", "cow", "pig"], ring))
    >>> found["n_links"], round(found["path_length"], 2), round(found["clustering"], 2)
    (4, 1.33, 0.58)
    """
    networkx = networkx_library("statistics of networks")
    whole = networkx.from_scipy_sparse_array(network.similarities + network.similarities.T)
    graph = whole.subgraph(max(networkx.connected_components(whole), key=len))
    n = graph.number_of_nodes()
    if n < 2:
        raise DataError(f"{network.report.source}: no two words are linked; expected a network")
    degree = 2 * graph.number_of_edges() / n
    clustering = networkx.average_clustering(graph)
    # For 800 words, SciPy needs 0.06 s and networkx 0.28 s.
    steps = csgraph.shortest_path(networkx.to_scipy_sparse_array(graph), unweighted=True)
    path_length = float(steps.sum() / (n * (n - 1)))
    find = networkx.community.louvain_communities
    communities = find(graph, weight=None, seed=random_state)
    small = np.nan
    if degree > 1:
        small = (clustering * n / degree) / (path_length * np.log(degree) / np.log(n))
    return {
        "n_words": whole.number_of_nodes(),
        "n_links": whole.number_of_edges(),
        "n_connected": n,
        "mean_degree": degree,
        "path_length": path_length,
        "clustering": clustering,
        "modularity": networkx.community.modularity(graph, communities, weight=None),
        "n_communities": len(communities),
        "small_worldness": float(small),
    }


class _Sequence(NamedTuple):
    """Answers of all lists in their order, without missing and repeated answers."""

    row: np.ndarray
    word: np.ndarray
    n_lists: int
    n_words: int


class _Near(NamedTuple):
    """Pairs of words that are close to one another in a list, once per list."""

    row: np.ndarray
    first: np.ndarray
    second: np.ndarray


class _Pairs(NamedTuple):
    """Linked pairs of words, once per pair, and the number of dropped pairs by reason."""

    first: np.ndarray
    second: np.ndarray
    strength: np.ndarray
    dropped: dict[str, int]


def check_lists(lists: Trials) -> None:
    """Raise a DataError if an object is not a set of fluency lists of one category."""
    if not isinstance(lists, Trials):
        raise DataError(
            f"the lists have type {type(lists).__name__}; expected Trials, as from read_fluency"
        )
    names = [lists.cues[cue] for cue in np.unique(lists.cue).tolist()]
    if len(names) > 1:
        condition = f"{next(iter(lists.columns), 'category')}={names[0]}"
        raise DataError(
            f"{lists.report.source}: the lists have {len(names):,} categories ({listed(names, 4)});"
            f" select one, for example by {setting('where', condition)}"
        )


def _sequence(lists: Trials) -> _Sequence:
    given = without_repeats(lists.given)
    rows, columns = np.nonzero(given >= 0)
    words = given[rows, columns].astype(np.int64)
    return _Sequence(rows, words, lists.n_trials, len(lists.answers))


def _near(sequence: _Sequence, window: int) -> _Near:
    row, word = sequence.row, sequence.word
    parts = []
    for k in range(1, min(window, row.size - 1) + 1):
        same = row[:-k] == row[k:]
        parts.append(np.stack([row[:-k], word[:-k], word[k:]])[:, same])
    return _Near(*np.concatenate(parts, axis=1)) if parts else _Near(*np.empty((3, 0), int))


def _windowed(sequence: _Sequence, window: int, alpha: float, min_lists: int) -> _Pairs:
    """Count the lists in which words are close to one another, and test the counts."""
    near = _near(sequence, window)
    n = sequence.n_words
    keys = np.minimum(near.first, near.second) * n + np.maximum(near.first, near.second)
    keys, counts = np.unique(keys, return_counts=True)
    first, second = np.divmod(keys, n)
    is_frequent = counts >= min_lists
    dropped = {f"in fewer than {min_lists} lists": int((~is_frequent).sum())}
    is_linked = is_frequent
    if alpha < 1:
        is_linked = is_frequent & (_by_chance(sequence, window, first, second, counts) < alpha / 2)
        dropped["not above chance"] = int((is_frequent & ~is_linked).sum())
    return _Pairs(first[is_linked], second[is_linked], counts[is_linked].astype(float), dropped)


def _by_chance(
    sequence: _Sequence, window: int, first: np.ndarray, second: np.ndarray, counts: np.ndarray
) -> np.ndarray:
    """Return the probability of at least these counts for words in random positions."""
    n_lists = sequence.n_lists
    length = sequence.word.size / n_lists
    close = 1.0  # A window that is at least as wide as the list contains all other words.
    if window < length - 1:
        close = 2 / (length * (length - 1)) * (window * length - window * (window + 1) / 2)
    rates = np.bincount(sequence.word, minlength=sequence.n_words) / n_lists
    return np.asarray(special.bdtrc(counts - 1, n_lists, close * rates[first] * rates[second]))


def _presence(sequence: _Sequence, centred: bool, min_lists: int) -> _Pairs:
    """Compute correlations or cosines between the presence of words in lists."""
    n, n_lists = sequence.n_words, sequence.n_lists
    totals = np.bincount(sequence.word, minlength=n)
    is_frequent = (totals >= min_lists)[sequence.word]
    cells = (sequence.row[is_frequent], sequence.word[is_frequent])
    present = sparse.csr_array((np.ones(cells[0].size), cells), shape=(n_lists, n))
    both = sparse.triu(present.T @ present, 1).tocoo()
    first, second, count = both.row, both.col, both.data
    one, other = totals[first].astype(float), totals[second].astype(float)
    if centred:
        # A word that is in all lists has no correlation.
        scale = np.sqrt(one * (n_lists - one) * other * (n_lists - other))
        covariance = n_lists * count - one * other
        values = np.divide(covariance, scale, out=np.zeros_like(scale), where=scale > 0)
    else:
        values = count / np.sqrt(one * other)
    is_linked = values > 0
    n_common = int((totals >= min_lists).sum())
    dropped = {
        "not correlated positively": n_common * (n_common - 1) // 2 - int(is_linked.sum()),
    }
    return _Pairs(first[is_linked], second[is_linked], values[is_linked], dropped)


def _associations(lists: Trials, pairs: _Pairs, rows: str) -> Associations:
    """Convert the linked pairs to associations in both directions."""
    is_used = np.zeros(len(lists.answers), bool)
    is_used[pairs.first] = is_used[pairs.second] = True
    number = np.cumsum(is_used) - 1
    first, second = number[pairs.first], number[pairs.second]
    source = lists.report.source
    entries = NumberedPairs(
        labels=tuple(lists.answers[word] for word in np.flatnonzero(is_used).tolist()),
        n_cues=int(is_used.sum()),
        cue=np.concatenate([first, second]),
        response=np.concatenate([second, first]),
        values=np.concatenate([pairs.strength, pairs.strength]),
        source=source,
        where=lambda k: f"{source}, pair {k}",
        similarities=True,
        n_read=pairs.strength.size + sum(pairs.dropped.values()),
        left_out={why: count for why, count in pairs.dropped.items() if count},
        notes=(f"{lists.n_trials:,} lists of {len(lists.answers):,} different words",),
    )
    return apply_rules(entries, Rules("drop", rows, "drop"))
