"""Similarity choice models, each of which is specified by a record of options.

    v_ij = a_i b_j  sum_m  pi_i^m pi_j^m  K(|y_i^m - y_j^m|^2 / width^2)
    q_ij = v_ij / sum_j v_ij      normalization "conditional": object i chooses one j
         = v_ij / sum_ij v_ij     normalization "joint":       the model chooses one pair
    q   <- (1 - background) q + background / (number of pairs in the normalization)

Most models are defined by their difference from another model. For example, t-SNE is symmetric SNE
with a different kernel.

    SNE             Hinton & Roweis 2002
    SYMMETRIC_SNE   Cook, Sutskever, Mnih & Hinton 2007, section 2
    UNI_SNE         the same, section 2.1
    T_SNE           van der Maaten & Hinton 2008
    MULTIPLE_MAPS_SNE, MULTIPLE_MAPS_T_SNE     van der Maaten & Hinton 2009, sections 3 and 3.1; the
                    former, with a size penalty, are the aspect maps of Cook et al. 2007
    CODE            Globerson, Chechik, Pereira & Tishby 2004: rows choose among columns
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

from manymaps.constraints import NONE, Allowed, Choice, Number, check_parameter

Kernel = Literal["gaussian", "cauchy"]
#: Kernel of an atlas. A number is the degrees of freedom of Student's kernel, which files may
#: contain. Such a kernel can be evaluated, but not fitted.
StoredKernel = Kernel | float
Normalization = Literal["conditional", "joint"]
Mixing = Literal["learned", "fixed"]
Given = Literal["rows", "columns"]

#: Allowed values of each choice, also for estimators that have it as a parameter.
CHOICES: dict[str, Allowed] = {
    "kernel": [Choice(get_args(Kernel))],
    "normalization": [Choice(get_args(Normalization))],
    "mixing": [Choice(get_args(Mixing))],
    "background": [Number(least=0, below=1)],
    "kernel_width": [Number(least=1e-15, most=1e15, why=", because fits use single precision")],
    "given": [Choice(get_args(Given)), NONE],
}


def check_kernel(kernel: StoredKernel) -> None:
    """Raise a ParameterError if a kernel is neither a name nor one that a file may contain."""
    if not (isinstance(kernel, float) and 1 < kernel < math.inf):
        check_parameter("kernel", kernel, CHOICES["kernel"])


@dataclass(frozen=True)
class ChoiceModel:
    """Options of a model: kernel, normalization, mixing, background and kernel width.

    Parameters
    ----------
    kernel : {"gaussian", "cauchy"}, default="gaussian"
        Kernel K of a squared distance. "gaussian" is exp(-d2), and "cauchy" is 1 / (1 + d2).
    normalization : {"conditional", "joint"}, default="conditional"
        Whether q is normalized over the pairs of one row, or over all pairs.
    mixing : {"learned", "fixed"}, default="fixed"
        Whether the mixing proportions are fitted or remain at their starting values.
    background : float in [0, 1), default=0.0
        Proportion of q that is distributed evenly over all pairs.
    kernel_width : float from 1e-15 to 1e15, default=1.0
        Number by which distances are divided. It affects the model only if there is a size penalty
        or if positions are fixed. In all other cases, it only scales the maps.
    given : {"rows", "columns"}, optional
        Set of objects that choose, if rows and columns are different objects. "rows" defines
        p(column | row), and "columns" defines p(row | column). If it is None, there is one set of
        objects, which choose one another.

    Raises
    ------
    ParameterError
        If a value is outside its range.

    See Also
    --------
    manymaps.MultipleMapsTSNE, manymaps.Atlas

    Examples
    --------
    >>> from dataclasses import replace
    >>> from manymaps.model import SYMMETRIC_SNE, T_SNE
    >>> replace(SYMMETRIC_SNE, kernel="cauchy") == T_SNE
    True
    """

    kernel: StoredKernel = "gaussian"
    normalization: Normalization = "conditional"
    mixing: Mixing = "fixed"
    background: float = 0.0
    kernel_width: float = 1.0
    given: Given | None = None

    def __post_init__(self) -> None:
        check_kernel(self.kernel)
        for name, allowed in CHOICES.items():
            if name != "kernel":
                check_parameter(name, getattr(self, name), allowed)

    def as_dict(self) -> dict[str, Any]:
        """Return the options as plain values that can be written to a file.

        Returns
        -------
        dict
            Value of each option by name.
        """
        return asdict(self)


SNE = ChoiceModel()
SYMMETRIC_SNE = replace(SNE, normalization="joint")
UNI_SNE = replace(SYMMETRIC_SNE, background=0.2)
T_SNE = replace(SYMMETRIC_SNE, kernel="cauchy")
MULTIPLE_MAPS_SNE = replace(SNE, mixing="learned")
MULTIPLE_MAPS_T_SNE = replace(MULTIPLE_MAPS_SNE, kernel="cauchy")
CODE = replace(SNE, given="rows")
