"""Each method in one line: what it is, its formula, and where it comes from.

Q is the matrix with I(xi; y) on its diagonal and I(xi; y | xj) elsewhere; j runs over the features
that are selected already.
"""

NOTES: dict[str, str] = {
    "auto": "joint forward selection: relevance, less what the selected features share about y",
    "maxrel": "maximal relevance: the k largest I(xi;y) (Lewis 1992)",
    "mrmr": "minimal redundancy, maximal relevance: I(xi;y) - mean of I(xi;xj) (Peng et al. 2005)",
    "jmi": "joint mutual information: sum of I(xi,xj;y) (Yang and Moody 1999)",
    "qpfs": "quadratic programming feature selection: weights of features (Rodriguez-Lujan 2010)",
    "linear": "linear relaxation: the k largest row sums of Q (Venkateswara et al. 2015)",
    "spectral": "spectral relaxation: the leading eigenvector of Q (Nguyen et al. 2014)",
    "sdp": "semidefinite relaxation of max x'Qx, rounded by projections (Nguyen et al. 2014)",
    "tpower": "truncated power method: multiply by Q, keep the k largest (Yuan and Zhang 2013)",
    "lowrank": "low-rank approximation: choices from 3 eigenvectors (Papailiopoulos et al. 2014)",
    "search": "memetic tabu search of max x'Qx: swaps, from many starts (Wu and Hao 2013)",
    "exact": "proved optimum of max x'Qx: bounds, then branch and bound; set a time limit",
    "forward": "forward selection on x'Qx: add the feature that helps most (Nguyen et al. 2014)",
    "mim": "mutual information maximisation: another name of maxrel",
    "mifs": "mutual information feature selection: I(xi;y) - b sum of I(xi;xj) (Battiti 1994)",
    "cife": "conditional infomax: I(xi;y) - sum of I(xi;xj) - I(xi;xj|y) (Lin and Tang 2006)",
    "cmim": "conditional mutual information maximisation: min of I(xi;y|xj) (Fleuret 2004)",
    "disr": "double input symmetrical relevance: sum of I(xi,xj;y) / H(xi,xj,y) (Meyer 2006)",
    "icap": "interaction capping: CIFE with only positive penalties (Jakulin 2005)",
    "jmim": "joint mutual information maximisation: min of I(xi,xj;y) (Bennasar et al. 2015)",
    "njmim": "normalised JMIM: min of I(xi,xj;y) / H(xi,xj,y) (Bennasar et al. 2015)",
    "mrmr-quotient": "mRMR as a quotient: I(xi;y) / mean of I(xi;xj) (Peng et al. 2005)",
    "mrmr-global": "mRMR of all features at once, as a quadratic problem solved by search",
    "jmi-global": "JMI of all features at once, as a quadratic problem solved by search",
}


def method_title(method: str) -> str:
    """What a method is called; nothing for one of your own."""
    return NOTES.get(method, "").partition(":")[0]
