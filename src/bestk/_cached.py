"""Attributes that are computed when they are first read, and kept."""

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")


class cached_property(Generic[T]):  # noqa: N801, as that of functools, which it stands for
    """A method that is read as an attribute: called once for each object, then kept in it.

    The one of functools holds a lock for all objects of a class up to Python 3.11, while the
    method runs. A process that is forked by another thread in that time inherits a lock that
    nobody opens, and waits for ever. Here two threads that read at the same time both call the
    method, and what the last one returns is kept.
    """

    def __init__(self, method: Callable[[Any], T]) -> None:
        self.method = method
        self.__doc__ = method.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: Any, owner: type) -> Self | T:
        if instance is None:
            return self
        value = self.method(instance)
        # Python finds it there before it asks this object again; it may be a frozen dataclass.
        vars(instance)[self.name] = value
        return value
