"""What there is to know of each method before choosing one."""

from dataclasses import dataclass

BROWN = "Brown et al., JMLR 13, 2012"
PAPER = "Venkateswara et al., ICDM 2015"
NGUYEN = "Nguyen et al., KDD 2014"
CMI = "max x'Qx, Q_ii = I(xi;y), Q_ij = I(xi;y|xj)"
ALL_PAIRS = "all n^2 pairs counted once"
COLUMNS = "k columns of pairs, never n^2"


@dataclass(frozen=True)
class MethodNote:
    """A method in words."""

    title: str
    formula: str
    reference: str
    cost: str
    use: str
    avoid: str


NOTES: dict[str, MethodNote] = {
    "auto": MethodNote(
        "Balanced relevance, redundancy and complement",
        "max x'Qx, Q_ii = I(xi;y), Q_ij = (3/4 I(xi;xj|y) - I(xi;xj)) / max(2, k-1), by swaps",
        f"no paper's; of the family of {BROWN}, with information averaged over several estimates",
        f"{ALL_PAIRS} per estimate; with bound=None a few columns",
        "features are to predict, and no method is asked for by name",
        "a paper's method, or values comparable with cmi's, are wanted; the fast bound is loose "
        "above 400 features: use bound='tight'",
    ),
    "maxrel": MethodNote(
        "Maximal relevance",
        "the k largest I(xi;y)",
        f"Lewis 1992; {BROWN}",
        "n single columns",
        "a first look, and very many columns",
        "columns repeat each other: all copies of a good one are taken",
    ),
    "mrmr": MethodNote(
        "Minimal redundancy, maximal relevance",
        "next: I(xi;y) - mean over picked j of I(xi;xj)",
        "Peng et al., IEEE TPAMI 27, 2005",
        COLUMNS,
        "many redundant columns, few samples",
        "features matter only together: it never looks at pairs and y",
    ),
    "jmi": MethodNote(
        "Joint mutual information",
        "next: sum over picked j of I(xi,xj;y)",
        f"Yang and Moody, NIPS 1999; {BROWN}",
        COLUMNS,
        "a sound greedy default that sees pairs",
        "few samples and many levels: joint counts grow thin",
    ),
    "qpfs": MethodNote(
        "Quadratic programming feature selection",
        "min (1-a) w'Hw/2 - a f'w, w >= 0, sum w = 1; H_ij = I(xi;xj), f_i = I(xi;y)",
        "Rodriguez-Lujan et al., JMLR 11, 2010",
        f"{ALL_PAIRS}, then an exact quadratic program",
        "weights of features are wanted, not only a choice",
        "n above some thousands: the program needs the whole matrix",
    ),
    "linear": MethodNote(
        "Linear relaxation",
        f"{CMI}: the k largest row sums of Q",
        PAPER,
        f"{ALL_PAIRS}, one pass over Q",
        "the start of other methods, and the yardstick of the paper",
        "the best objective is wanted: every other global method is above it",
    ),
    "spectral": MethodNote(
        "Spectral relaxation",
        f"{CMI}: the k largest entries of the leading eigenvector",
        NGUYEN,
        f"{ALL_PAIRS}, a few products with Q",
        "a smooth ranking of all features",
        "the best objective is wanted",
    ),
    "sdp": MethodNote(
        "Semidefinite relaxation",
        f"{CMI}: lifted to a positive semidefinite matrix, rounded by 100 projections",
        NGUYEN,
        f"{ALL_PAIRS}, then seconds (n = 1000) to minutes (n = 5000)",
        "a strong bound of the paper's kind is wanted with the choice",
        "time matters: search finds better choices sooner",
    ),
    "tpower": MethodNote(
        "Truncated power method",
        f"{CMI}: multiply by Q, keep the k largest entries, repeat",
        f"Yuan and Zhang, JMLR 14, 2013; {PAPER}",
        f"{ALL_PAIRS}, then a few passes over Q; columns on demand when n is large",
        "the paper's fast global method; very large n",
        "the last percent of the objective matters: use search or exact",
    ),
    "lowrank": MethodNote(
        "Low-rank bilinear approximation",
        f"{CMI}: best of 926,519 choices drawn from three eigenvectors",
        f"Papailiopoulos et al., ICML 2014; {PAPER}",
        f"{ALL_PAIRS}, then seconds at n = 1000",
        "Q is close to low rank",
        "time matters: search is faster and better",
    ),
    "search": MethodNote(
        "Memetic tabu search",
        f"{CMI}: swaps of one feature for another, from many starts",
        "Wu and Hao, EJOR 231, 2013",
        f"{ALL_PAIRS}, then time_limit, or until it stands still",
        "the best objective for the time; it found every optimum known to us",
        "the objective is estimated from few samples: optimising noise does not pay",
    ),
    "exact": MethodNote(
        "Proved optimum",
        f"{CMI}: doubly non-negative bounds, screening, branch and bound",
        "Krislock et al., Math. Program. 143, 2014 (bounds of this kind)",
        f"{ALL_PAIRS}, then seconds to hours; set time_limit",
        "the answer must be optimal, n up to some hundreds",
        "n above a thousand, unless few features stand out",
    ),
    "forward": MethodNote(
        "Greedy on the paper's objective",
        f"{CMI}: add the feature that helps most, k times",
        NGUYEN,
        COLUMNS,
        "a ranking in which each k extends the one before",
        "pairs of features matter only together",
    ),
    "mim": MethodNote(
        "Mutual information maximisation",
        "the same as maxrel",
        f"Lewis 1992; {BROWN}",
        "n single columns",
        "as for maxrel",
        "as for maxrel",
    ),
    "mifs": MethodNote(
        "Mutual information feature selection",
        "next: I(xi;y) - beta * sum over picked j of I(xi;xj)",
        "Battiti, IEEE Trans. Neural Networks 5, 1994",
        COLUMNS,
        "redundancy is to be punished by a weight of your own",
        "k is large: the sum grows with k, relevance does not",
    ),
    "cife": MethodNote(
        "Conditional infomax feature extraction",
        "next: I(xi;y) - sum over picked j of (I(xi;xj) - I(xi;xj|y))",
        f"Lin and Tang, ECCV 2006; {BROWN}",
        COLUMNS,
        "information up to pairs, few features",
        "k is large: errors of the pair terms add up",
    ),
    "cmim": MethodNote(
        "Conditional mutual information maximisation",
        "next: min over picked j of I(xi;y|xj)",
        "Fleuret, JMLR 5, 2004",
        COLUMNS,
        "binary features, strong redundancy",
        "features matter only together with several others",
    ),
    "disr": MethodNote(
        "Double input symmetrical relevance",
        "next: sum over picked j of I(xi,xj;y) / H(xi,xj,y)",
        "Meyer and Bontempi, EvoWorkshops 2006",
        COLUMNS,
        "columns of very different numbers of levels",
        "information='gaussian', which has no such entropies",
    ),
    "icap": MethodNote(
        "Interaction capping",
        "next: I(xi;y) - sum over picked j of max(0, I(xi;xj) - I(xi;xj|y))",
        f"Jakulin 2005; {BROWN}",
        COLUMNS,
        "redundancy hurts, synergy is not to be trusted",
        "features matter only together",
    ),
    "jmim": MethodNote(
        "Joint mutual information maximisation",
        "next: min over picked j of I(xi,xj;y)",
        "Bennasar et al., Expert Systems with Applications 42, 2015",
        COLUMNS,
        "a careful JMI: the worst partner counts",
        "one weak pick: it then rules all scores",
    ),
    "njmim": MethodNote(
        "Normalised JMIM",
        "next: min over picked j of I(xi,xj;y) / H(xi,xj,y)",
        "Bennasar et al., Expert Systems with Applications 42, 2015",
        COLUMNS,
        "columns of very different numbers of levels",
        "information='gaussian', which has no such entropies",
    ),
    "mrmr-quotient": MethodNote(
        "mRMR as a quotient",
        "next: I(xi;y) / mean over picked j of I(xi;xj)",
        "Peng et al., IEEE TPAMI 27, 2005",
        COLUMNS,
        "redundancy differs by orders of magnitude",
        "some columns share nothing with any other: they win whatever they say",
    ),
    "mrmr-global": MethodNote(
        "mRMR, all features at once",
        "max sum I(xi;y) - (1/(k-1)) sum over pairs i != j of I(xi;xj), by search",
        "the objective of Peng et al. 2005, solved as a quadratic problem",
        f"{ALL_PAIRS}, then as search",
        "as mrmr, without the mistakes of the first picks",
        "features matter only together",
    ),
    "jmi-global": MethodNote(
        "JMI, all features at once",
        "max sum over pairs i != j of I(xi,xj;y) / (k-1), by search",
        "the objective of Yang and Moody 1999, solved as a quadratic problem",
        f"{ALL_PAIRS}, then as search",
        "as jmi, without the mistakes of the first picks",
        "few samples and many levels",
    ),
}
