"""Relaxations of the quadratic problem, from which bounds are proved.

- ``budget``: what work may still cost.
- ``subproblem``: bounds, and problems of which some items are decided.
- ``rows``: what an item is worth with its best partners; multipliers; branch and bound.
- ``spheres``, ``sdp``: the semidefinite relaxation, by a low-rank factor, and its proof.
- ``dnn``: the doubly non-negative relaxation, the tightest; ``admm`` iterates it, ``eigen`` has its
  projections and proofs, ``triangles`` makes it tighter, ``mixtures`` extends it to many items, and
  ``arrays`` says where its arrays are.
"""
