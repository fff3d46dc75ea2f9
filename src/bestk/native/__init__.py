"""The C kernels: one library, loaded by ctypes, with every argument checked before a call.

A kernel is called as ``kernels.name(...)``. Arrays must have the dtype, the number of dimensions
and the memory order that its line in ``SIGNATURES`` states: nothing is converted or copied here.
ctypes releases the GIL during a call, so tiles run in Python threads; see ``bestk.native.threads``.
"""

from bestk.native._library import TABLE_TYPES, Kernel, as_table, cpu_levels, kernels

__all__ = ["TABLE_TYPES", "Kernel", "as_table", "cpu_levels", "kernels"]
