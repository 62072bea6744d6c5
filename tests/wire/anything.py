"""A Hypothesis strategy for any value of a type, derived from the type."""

import types
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin

import msgspec
from hypothesis import strategies as st

TEXT = st.text(st.characters(codec="utf-8"), max_size=6)

# JSON's limits: no lone surrogates, finite numbers, 64-bit integers.
_PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXT,
    int: st.integers(-(2**63), 2**63 - 1),
    float: st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans(),
    type(None): st.none(),
    msgspec.UnsetType: st.just(msgspec.UNSET),
}


@cache
def anything(of: Any) -> st.SearchStrategy[Any]:
    if of in _PLAIN:
        return _PLAIN[of]
    origin, args = get_origin(of), get_args(of)
    if origin is Literal:
        return st.sampled_from(args)
    if origin in (Union, types.UnionType):
        return st.one_of([anything(arg) for arg in args])
    if origin is tuple:
        if args[1] is not ...:
            return st.tuples(*map(anything, args))
        return st.lists(anything(args[0]), max_size=2).map(tuple)
    if origin is dict:
        return st.dictionaries(anything(args[0]), anything(args[1]), max_size=2)
    assert issubclass(of, msgspec.Struct), of
    return st.builds(of, **{field.name: anything(field.type) for field in msgspec.structs.fields(of)})
