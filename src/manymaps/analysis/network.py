"""Network measures of words, as table columns.

    strength_in, strength_out     sum_i s_ij, sum_j s_ij
    degree_in, degree_out         number of different cues of the word, and of its responses
    clustering                    share of pairs of its neighbours that are neighbours, in either
                                  direction             (Watts & Strogatz 1998)
    pagerank                      distribution of a walk along s that restarts with probability
                                  0.15 per step         (Brin & Page 1998)
    betweenness                   share of shortest paths between other words through the word, if
                                  a step has the length 1 / s          (Brandes 2001; Newman 2001)

Steyvers & Tenenbaum (2005) and De Deyne & Storms (2008) apply these measures to norms. The library
networkx computes the last three measures.

M. Steyvers and J. B. Tenenbaum, "The large-scale structure of semantic networks", `Cognitive
Science` 29 (2005). S. De Deyne and G. Storms, "Word associations: network and semantic properties",
`Behavior Research Methods` 40 (2008).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from manymaps.checks import check_whole
from manymaps.data.associations import Associations
from manymaps.data.trials import Trials, as_norms
from manymaps.errors import not_installed
from manymaps.progress import work
from manymaps.seeds import drawn_seed


def node_measures(
    norms: Associations | Trials,
    *,
    betweenness: bool | int = False,
    random_state: int | None = 0,
) -> dict[str, np.ndarray]:
    """Measure the position of each word in the network of associations.

    Parameters
    ----------
    norms : Associations or Trials
        The network. For symmetric norms, the original values are used in both directions.
    betweenness : bool or int, default=False
        Whether to compute betweenness, which takes minutes for thousands of words because every
        shortest path is followed. An integer requests an estimate from that many words drawn at
        random.
    random_state : int or None, default=0
        Seed of the random draw.

    Returns
    -------
    dict of str to ndarray of shape (n_objects,)
        A table for `Atlas.add_metadata` and data frames. The first column is "label", followed by
        the measures by name. The outgoing strength and degree are 0 for words that are never cues.

    Raises
    ------
    ParameterError
        If the number of words drawn is below 2 or above the number of words in the norms.
    ImportError
        If networkx is not installed.

    See Also
    --------
    spread, ambiguity

    Examples
    --------
    >>> from scipy import sparse
    >>> from manymaps import Associations, node_measures
    >>> ties = sparse.csr_array([[0, .6, .4, 0], [1, 0, 0, 0], [.5, .5, 0, 0], [1, 0, 0, 0]])
    >>> nodes = node_measures(Associations(["tie", "knot", "rope", "tuxedo"], ties))
    >>> nodes["strength_in"].tolist(), nodes["degree_in"].tolist()
    ([2.5, 1.1, 0.4, 0.0], [3, 2, 1, 0])
    >>> nodes["clustering"].round(2).tolist(), nodes["label"][nodes["pagerank"].argmax()]
    ([0.33, 1.0, 1.0, 0.0], 'tie')
    """
    norms = as_norms("norms", norms)
    n = norms.n_objects
    if betweenness is not False and betweenness is not True:
        check_whole("betweenness", betweenness, 2, n, why=", the number of words")
    networkx = networkx_library("measuring nodes")
    table = norms.similarities.copy()
    table.eliminate_zeros()
    columns: dict[str, np.ndarray] = {
        "label": np.array(norms.labels, dtype=object),
        "strength_in": np.asarray(table.sum(axis=0)).ravel(),
        "strength_out": np.asarray(table.sum(axis=1)).ravel(),
        "degree_in": np.bincount(table.indices, minlength=n),
        "degree_out": np.diff(table.indptr).astype(np.int64),
    }
    everyone = range(n)
    with work("measuring the network"):
        graph = networkx.from_scipy_sparse_array(table, create_using=networkx.DiGraph)
        clustering = networkx.clustering(graph.to_undirected())
        columns["clustering"] = np.array([float(clustering[i]) for i in everyone])
        ranks = networkx.pagerank(graph)
        columns["pagerank"] = np.array([ranks[i] for i in everyone])
    if betweenness is not False:
        with work("following shortest paths"):
            for _, _, edge in graph.edges(data=True):
                edge["length"] = 1 / edge["weight"]
            sources = None if betweenness is True else int(betweenness)
            between = networkx.betweenness_centrality(
                graph, k=sources, weight="length", seed=drawn_seed(random_state)
            )
            columns["betweenness"] = np.array([between[i] for i in everyone])
    return columns


def networkx_library(purpose: str) -> Any:
    """Import networkx, or raise an ImportError that names the purpose."""
    try:
        import networkx
    except ImportError as error:
        raise ImportError(not_installed(purpose, "networkx")) from error
    return networkx
