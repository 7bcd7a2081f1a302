"""Members that an extension may leave out."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from builtins import property as provided
else:

    class provided:
        """A property that a subclass may replace by another, by a class attribute or by a field of a dataclass."""

        def __init__(self, make):
            self.make, self.__doc__ = make, make.__doc__

        def __set_name__(self, owner, name):
            self.name = name

        def __get__(self, owner, kind=None):
            if owner is None:  # a dataclass must not find a default here
                raise AttributeError(self.name)
            return self.make(owner)


__all__ = ["provided"]
