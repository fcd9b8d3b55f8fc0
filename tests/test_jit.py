"""Threads within a block: the limit is the process's, and whoever leaves last lifts it."""

import re

from threadpoolctl import threadpool_info, threadpool_limits

from manymaps.compute.jit import one_blas_thread


def blas_threads() -> set[int]:
    """Of the libraries of NumPy and SciPy; faiss and SCS, once loaded, have their own."""
    return {
        one["num_threads"]
        for one in threadpool_info()
        if one["user_api"] == "blas" and not re.search("faiss|scs", one["filepath"])
    }


def test_one_blas_thread_while_anybody_is_inside():
    with threadpool_limits(2, user_api="blas"):
        usual = blas_threads()
        first, second = one_blas_thread(), one_blas_thread()
        first.__enter__()
        second.__enter__()
        # Fits end in any order.
        first.__exit__(None, None, None)
        assert blas_threads() == {1}
        second.__exit__(None, None, None)
        assert blas_threads() == usual


def test_blocks_within_one_another():
    with threadpool_limits(2, user_api="blas"):
        usual = blas_threads()
        with one_blas_thread():
            with one_blas_thread():
                assert blas_threads() == {1}
            assert blas_threads() == {1}
        assert blas_threads() == usual
