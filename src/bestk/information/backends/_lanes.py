"""Sixteen pairs at a time: vector registers as numba values.

``Counts`` holds sixteen 32-bit counters, ``Sums`` sixteen 64-bit ones. The kernels of
``_bitplanes`` add, subtract, count bits and look tables up on them as if they were numbers;
LLVM turns that into the vector instructions of the chip at hand (AVX-512 ``vpopcntd`` and
gathers where there are any, shorter or scalar ones elsewhere).
"""

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, overload, register_model

LANES = 16

_i1, _i32, _i64 = ir.IntType(1), ir.IntType(32), ir.IntType(64)
_counts_ir, _sums_ir = ir.VectorType(_i32, LANES), ir.VectorType(_i64, LANES)


class _Lanes(types.Type):
    """The numba type of a vector register."""

    def __init__(self, name: str, vector: ir.VectorType) -> None:
        self.vector = vector
        super().__init__(name=name)


class _CountsType(_Lanes):
    def __init__(self) -> None:
        super().__init__("Counts", _counts_ir)


class _SumsType(_Lanes):
    def __init__(self) -> None:
        super().__init__("Sums", _sums_ir)


counts, sums = _CountsType(), _SumsType()


@register_model(_CountsType)
@register_model(_SumsType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: _Lanes) -> None:
        super().__init__(dmm, fe_type, fe_type.vector)


def _data(context: Any, builder: Any, array_type: Any, array: Any, index: Any, element: Any) -> Any:
    """Pointer to ``array[index]``, counted over the flat C-ordered array."""
    data = context.make_array(array_type)(context, builder, value=array).data
    return builder.gep(builder.bitcast(data, element.as_pointer()), [index])


def _splat(builder: Any, vector: ir.VectorType, scalar: Any) -> Any:
    undefined = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(undefined, scalar, _i32(0))
    return builder.shuffle_vector(first, undefined, ir.Constant(_counts_ir, [0] * LANES))


def _zero(lanes: _Lanes) -> Callable[..., Any]:
    @intrinsic
    def zero(typingctx: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return ir.Constant(lanes.vector, [0] * LANES)

        return lanes(), codegen

    return zero


no_counts, no_sums = _zero(counts), _zero(sums)


@intrinsic
def load(typingctx: Any, array: Any, index: Any) -> Any:
    """Sixteen counters from a flat index of a uint32 array, or sums of an int64 one."""
    lanes = counts if array.dtype.bitwidth == 32 else sums

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        element = lanes.vector.element
        pointer = _data(context, builder, signature.args[0], args[0], args[1], element)
        return builder.load(builder.bitcast(pointer, lanes.vector.as_pointer()), align=4)

    return lanes(array, types.intp), codegen


@intrinsic
def store(typingctx: Any, array: Any, index: Any, value: Any) -> Any:
    """Write sixteen counters, or sums, at a flat index of an array of the same width."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = signature.args[2].vector
        pointer = _data(context, builder, signature.args[0], args[0], args[1], vector.element)
        builder.store(args[2], builder.bitcast(pointer, vector.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, value), codegen


@intrinsic
def store_scaled(
    typingctx: Any, array: Any, index: Any, value: Any, scale: Any, lowest: Any
) -> Any:
    """Write ``max(sums * scale, lowest)`` at a flat index of an array of floats."""
    element = ir.FloatType() if array.dtype.bitwidth == 32 else ir.DoubleType()

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        double, vector = ir.VectorType(ir.DoubleType(), LANES), ir.VectorType(element, LANES)
        scaled = builder.fmul(builder.sitofp(args[2], double), _splat(builder, double, args[3]))
        floor = _splat(builder, double, args[4])
        clipped = builder.select(builder.fcmp_ordered("<", scaled, floor), floor, scaled)
        if element != ir.DoubleType():
            clipped = builder.fptrunc(clipped, vector)
        pointer = _data(context, builder, signature.args[0], args[0], args[1], element)
        builder.store(clipped, builder.bitcast(pointer, vector.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, sums, types.float64, types.float64), codegen


@intrinsic
def splat(typingctx: Any, number: Any) -> Any:
    """The same count in every lane."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _splat(builder, _counts_ir, builder.trunc(args[0], _i32))

    return counts(types.int64), codegen


@intrinsic
def splat_sum(typingctx: Any, number: Any) -> Any:
    """The same sum in every lane."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _splat(builder, _sums_ir, args[0])

    return sums(types.int64), codegen


@intrinsic
def equal_bits(typingctx: Any, codes: Any, index: Any, code: Any) -> Any:
    """One bit for each of the 32 codes from a flat index on: whether it equals ``code``."""
    element = ir.IntType(codes.dtype.bitwidth)
    vector = ir.VectorType(element, 32)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _data(context, builder, signature.args[0], args[0], args[1], element)
        values = builder.load(builder.bitcast(pointer, vector.as_pointer()), align=1)
        undefined = ir.Constant(vector, ir.Undefined)
        first = builder.insert_element(undefined, builder.trunc(args[2], element), _i32(0))
        zeros = ir.Constant(ir.VectorType(_i32, 32), [0] * 32)
        wanted = builder.shuffle_vector(first, undefined, zeros)
        return builder.bitcast(builder.icmp_unsigned("==", values, wanted), _i32)

    return types.uint32(codes, types.intp, types.int64), codegen


@intrinsic
def common_bits(typingctx: Any, lanes: Any, words: Any, index: Any) -> Any:
    """How many bits each lane shares with ``words[index]``."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _data(context, builder, signature.args[1], args[1], args[2], _i32)
        word = _splat(builder, _counts_ir, builder.load(pointer))
        function = ir.FunctionType(_counts_ir, [_counts_ir])
        ctpop = cgutils.get_or_insert_function(builder.module, function, "llvm.ctpop.v16i32")
        return builder.call(ctpop, [builder.and_(args[0], word)])

    return counts(counts, words, types.intp), codegen


@intrinsic
def look_up(typingctx: Any, table: Any, index: Any) -> Any:
    """``table[index]`` lane by lane, from an int64 table."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _gather(
            builder, _data(context, builder, signature.args[0], args[0], _i64(0), _i64), args[1]
        )

    return sums(table, counts), codegen


@intrinsic
def look_up_small(typingctx: Any, table: Any, index: Any) -> Any:
    """The same, from registers where all lanes are below 16 and the chip can; branches on it."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = _data(context, builder, signature.args[0], args[0], _i64(0), _i64)
        if "+avx512f" not in getattr(context.codegen(), "_tm_features", ""):
            return _gather(builder, data, args[1])
        large = builder.icmp_unsigned(">", args[1], ir.Constant(_counts_ir, [LANES - 1] * LANES))
        some = builder.icmp_unsigned(
            "!=", builder.bitcast(large, ir.IntType(LANES)), ir.IntType(LANES)(0)
        )
        with builder.if_else(some, likely=False) as (then, otherwise):
            with then:
                gathered, from_memory = _gather(builder, data, args[1]), builder.block
            with otherwise:
                permuted, from_registers = _permute(builder, data, args[1]), builder.block
        result = builder.phi(_sums_ir)
        result.add_incoming(gathered, from_memory)
        result.add_incoming(permuted, from_registers)
        return result

    return sums(table, counts), codegen


_HALF = LANES // 2
_half_ir = ir.VectorType(_i64, _HALF)


def _halves(builder: Any, value: Any) -> list[Any]:
    undefined = ir.Constant(value.type, ir.Undefined)
    parts = (list(range(first, first + _HALF)) for first in (0, _HALF))
    masks = (ir.Constant(ir.VectorType(_i32, _HALF), part) for part in parts)
    return [builder.shuffle_vector(value, undefined, mask) for mask in masks]


def _join(builder: Any, halves: list[Any]) -> Any:
    return builder.shuffle_vector(*halves, ir.Constant(_counts_ir, list(range(LANES))))


def _gather(builder: Any, data: Any, index: Any) -> Any:
    """Load from a table in memory, two halves of eight lanes."""
    pointers, mask = ir.VectorType(_i64.as_pointer(), _HALF), ir.VectorType(_i1, _HALF)
    function = ir.FunctionType(_half_ir, [pointers, _i32, mask, _half_ir])
    name = f"llvm.masked.gather.v{_HALF}i64.v{_HALF}p0"
    call = cgutils.get_or_insert_function(builder.module, function, name)
    everywhere, nothing = ir.Constant(mask, [1] * _HALF), ir.Constant(_half_ir, [0] * _HALF)
    base = _splat(builder, _sums_ir, builder.ptrtoint(data, _i64))
    offset = builder.shl(builder.zext(index, _sums_ir), ir.Constant(_sums_ir, [3] * LANES))
    addresses = _halves(builder, builder.add(base, offset))
    return _join(
        builder,
        [
            builder.call(call, [builder.inttoptr(half, pointers), _i32(8), everywhere, nothing])
            for half in addresses
        ],
    )


def _permute(builder: Any, data: Any, index: Any) -> Any:
    """Take from the first sixteen entries of a table, held in two registers."""
    function = ir.FunctionType(_half_ir, [_half_ir, _half_ir, _half_ir])
    name = "llvm.x86.avx512.vpermi2var.q.512"
    call = cgutils.get_or_insert_function(builder.module, function, name)
    low, high = (
        builder.load(builder.bitcast(builder.gep(data, [_i64(at)]), _half_ir.as_pointer()), align=8)
        for at in (0, _HALF)
    )
    halves = _halves(builder, builder.zext(index, _sums_ir))
    return _join(builder, [builder.call(call, [low, half, high]) for half in halves])


def _elementwise(instruction: str) -> Callable[..., Any]:
    @intrinsic
    def combine(typingctx: Any, a: Any, b: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return getattr(builder, instruction)(*args)

        return a(a, b), codegen

    return combine


def _operator(symbol: Any, combine: Callable[..., Any]) -> None:
    @overload(symbol)
    def implement(a: Any, b: Any) -> Any:
        def both(a: Any, b: Any) -> Any:
            return combine(a, b)

        return both if isinstance(a, _Lanes) and a == b else None


_operator(operator.add, _elementwise("add"))
_operator(operator.sub, _elementwise("sub"))
