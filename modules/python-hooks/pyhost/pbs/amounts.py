# SPDX-License-Identifier: Apache-2.0
#
# amounts.py - sizes, durations and booleans. An amount is an int, too.
import re

from .errors import BadAttributeValueError, BadAttributeValueTypeError

INT64 = 1 << 63


def integer(text):
    try:
        value = int(text)
    except ValueError:
        raise BadAttributeValueError("'%s' is no integer" % text) from None
    if not -INT64 <= value < INT64:
        raise BadAttributeValueError("%s does not fit in 64 bits" % text)
    return value


UNITS = {letter: 1 << 10 * i for i, letter in enumerate(("", "k", "m", "g", "t", "p"))}
WORD = 8


class amount(int):
    """What size and duration have in common: made of a text or a number, it is shown as it was written."""
    _numbers = int        # Python's types that one is made of ...
    _made_of = "an int"   # ... in words

    def __new__(cls, value=0):
        if type(value) is cls:
            return value
        if isinstance(value, str):
            n = cls._read(value)
        elif isinstance(value, cls._numbers):
            n = int(value)
        else:
            raise BadAttributeValueTypeError("a %s is made of a text or %s, not %s"
                                             % (cls.__name__, cls._made_of, type(value).__name__))
        if not -INT64 <= n < INT64:
            raise BadAttributeValueError("%s does not fit in 64 bits" % value)
        self = int.__new__(cls, n)
        self._text = value if isinstance(value, str) else None
        return self

    def __str__(self):
        if self._text is None:
            self._text = self._shown()
        return self._text

    def __repr__(self):
        return "%s('%s')" % (type(self).__name__, self)

    def __add__(self, other):
        return type(self)(int(self) + int(type(self)(other)))

    def __sub__(self, other):
        return type(self)(int(self) - int(type(self)(other)))

    def __rsub__(self, other):
        return type(self)(int(type(self)(other)) - int(self))

    __radd__ = __add__
    __hash__ = int.__hash__


class size(amount):
    """An amount of memory: size("10gb"), size(1024). As an int: bytes."""
    _form = re.compile(r"([0-9]+)([kmgtp]?)([bw]?)", re.I)

    @classmethod
    def _read(cls, text):
        found = cls._form.fullmatch(text.strip())
        if found is None:
            raise BadAttributeValueError("'%s' is no size: digits and b, kb ... pb, w ... pw" % text)
        return int(found[1]) * UNITS[found[2].lower()] * (WORD if found[3] in ("w", "W") else 1)

    def _shown(self):
        n, i = int(self), 0
        while n and n % 1024 == 0 and i < 5:
            n, i = n // 1024, i + 1
        return "%d%sb" % (n, list(UNITS)[i])


class duration(amount):
    """A time: duration("1:30:00"), duration(90). As an int: seconds."""
    _form = re.compile(r"(?:(?:([0-9]+):)?([0-9]+):)?([0-9]+)(?:\.[0-9]*)?")
    _numbers, _made_of = (int, float), "a number"

    @classmethod
    def _read(cls, text):
        found = cls._form.fullmatch(text.strip())
        if found is None:
            raise BadAttributeValueError("'%s' is no duration: [[h:]m:]s[.ms]" % text)
        return int(found[1] or 0) * 3600 + int(found[2] or 0) * 60 + int(found[3])

    def _shown(self):
        n = abs(int(self))
        return "%s%02d:%02d:%02d" % ("-" if int(self) < 0 else "", n // 3600, n // 60 % 60, n % 60)


def compared(name):
    """Amounts compare with texts of amounts, too: size("1gb") == "1024mb"."""
    plain = getattr(int, name)

    def compare(self, other):
        if isinstance(other, str):
            try:
                other = type(self)(other)
            except ValueError:
                return NotImplemented
        return plain(self, other)
    return compare


for _name in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"):
    setattr(amount, _name, compared(_name))


def size_to_kbytes(value):
    """Kilobytes of a size, rounded up."""
    return -(-int(size(value)) // 1024)


class pbs_bool:
    """True or False of a value as attributes have it: pbs_bool("y")."""
    _words = {"true": True, "t": True, "1": True, "y": True, "false": False, "f": False, "0": False, "n": False}

    def __new__(cls, value=False):
        if isinstance(value, str):
            if value.lower() not in cls._words:
                raise BadAttributeValueError("'%s' is neither True nor False" % value)
            return cls._words[value.lower()]
        if isinstance(value, int) and value in (0, 1):
            return bool(value)
        raise BadAttributeValueTypeError("True or False is wanted, not %s" % type(value).__name__)
