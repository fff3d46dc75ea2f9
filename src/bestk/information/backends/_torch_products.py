"""Exact products of planes of 0 and 1, as fast as a device can."""

from functools import cache
from typing import Any

import torch
from torch import Tensor

EXACT_FLOATS = 2**24  # a sum of zeros and ones is exact in float32 up to here
ONE = 2.0**9  # a byte of 1, read as an 8-bit float, is 2^-9


def plane_dtype(device: Any, n_places: int) -> Any:
    """What planes of bytes are read as: 8-bit floats, integers, or else turned into floats."""
    if device.type != "cuda" or torch.cuda.get_device_capability(device) < (7, 5):
        return torch.float32
    if n_places < EXACT_FLOATS and _float8_is_exact(device):
        return torch.float8_e4m3fn
    return torch.int8


@cache
def _float8_is_exact(device: Any) -> bool:
    """Whether tensor cores add ones without loss; a product of planes has no larger sums."""
    if torch.cuda.get_device_capability(device) < (8, 9):
        return False
    ones = torch.ones((32, 2**18), dtype=torch.uint8, device=device).view(torch.float8_e4m3fn)
    out = torch.empty((32, 32), device=device)
    try:
        multiply(ones, ones, out, add=False)
    except RuntimeError:
        return False
    return bool((out == 2**18).all())


def empty_counts(shape: tuple[int, ...], planes: Any, device: Any) -> Tensor:
    """Room for the products of planes of that dtype."""
    dtype = torch.float32 if planes == torch.float8_e4m3fn else torch.int32
    return torch.empty(shape, dtype=dtype, device=device)


def multiply(a: Tensor, b: Tensor, out: Tensor, add: bool) -> None:
    """Products of the rows of a with those of b, or these added to what is there."""
    if add:
        more = torch.empty_like(out)
        multiply(a, b, more, add=False)
        out += more
    elif a.dtype == torch.float8_e4m3fn:
        one = _one(a.device)
        torch._scaled_mm(a, b.T, one, one, out_dtype=out.dtype, use_fast_accum=False, out=out)
    elif a.dtype == torch.int8:
        torch._int_mm(a, b.T, out=out)
    else:
        out.copy_(a @ b.T)


@cache
def _one(device: Any) -> Tensor:
    return torch.full((), ONE, device=device)
