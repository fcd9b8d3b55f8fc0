"""Agreement of the nearest objects of positions in a map with the nearest objects in the data.

    agreement(y) = sum_{k <= depth} |N_k(data) & N_k(y)| / k

N_k(data) are the k nearest atlas objects of a new object in the data. N_k(y) are the k atlas
objects nearest to the position y in the map.

Arrays: neighbours in the data as CSR (indptr, columns), nearest first; `near_in_map` (k, n_offers,
depth) contains the atlas objects nearest to each candidate position, nearest first.
"""

from __future__ import annotations

import numpy as np

from manymaps.compute.jit import rounded

__all__ = ["most_agreeing"]


@rounded
def most_agreeing(first, last, n, indptr, columns, near_in_map, allowed, best):
    """Fill `best` (k,) with the first of the allowed candidates whose agreement is largest.

    n is the number of atlas objects. `allowed` has shape (k, n_offers) and is true for the first
    candidate of each object. The neighbourhoods of an object with fewer than `depth` stored
    neighbours are limited to their number.
    """
    rank = np.full(n, n, np.int64)
    shared = np.empty(near_in_map.shape[2], np.int64)
    for i in range(first, last):
        depth = min(near_in_map.shape[2], indptr[i + 1] - indptr[i])
        near = columns[indptr[i] : indptr[i] + depth]
        for k in range(depth):
            rank[near[k]] = k
        largest = -1.0
        for c in range(near_in_map.shape[1]):
            if not allowed[i, c]:
                continue
            # A shared object belongs to both neighbourhoods from the larger of its two ranks.
            shared[:] = 0
            for k in range(depth):
                larger_rank = max(k, rank[near_in_map[i, c, k]])
                if larger_rank < depth:
                    shared[larger_rank] += 1
            agreement, count = 0.0, 0
            for k in range(depth):
                count += shared[k]
                agreement += count / (k + 1)
            if agreement > largest:
                largest, best[i] = agreement, c
        for k in range(depth):
            rank[near[k]] = n
