# SPDX-License-Identifier: Apache-2.0
#
# words.py - values that are words to the daemon and numbers to scripts: states of jobs, vnodes, reservations ...
from . import constants
from .errors import BadAttributeValueError, BadAttributeValueTypeError


class vnode_state(int):
    """Bits of pbs.ND_...: `+=` sets one, `-=` clears it."""

    def __new__(cls, value=0):
        if isinstance(value, str):
            bits = 0
            for word in value.split(","):
                if word not in constants.state_bits:
                    raise BadAttributeValueError("invalid vnode state value '%s'" % value)
                bits |= constants.state_bits[word]
            return int.__new__(cls, bits)
        if not isinstance(value, int):
            raise BadAttributeValueTypeError("invalid vnode state value '%s'" % (value,))
        left = int(value)
        for bit in constants.state_names:
            left &= ~bit
        if left:
            raise BadAttributeValueError("invalid vnode state value '%s'" % value)
        return int.__new__(cls, value)

    def __add__(self, other):
        return vnode_state(int(self) | int(vnode_state(other)))

    def __sub__(self, other):
        return vnode_state(int(self) & ~int(vnode_state(other)))

    __radd__ = __add__


def settable_bits():
    return sum(constants.state_bits[word] for word in constants.SETTABLE_STATES)


class word(int):
    """A word that scripts know as a number, too: equals both, and is shown as the word."""
    _numbers = {}

    def __new__(cls, value):
        if isinstance(value, str):
            if value not in cls._numbers:
                raise BadAttributeValueError("'%s' is none of %s" % (value, ", ".join(cls._numbers)))
            value = cls._numbers[value]
        elif not isinstance(value, int):
            raise BadAttributeValueTypeError("a number or a word is wanted, not %s" % type(value).__name__)
        elif value not in cls._numbers.values():
            raise BadAttributeValueError("%d is none of %s" % (value, ", ".join(cls._numbers)))
        return int.__new__(cls, value)

    def __str__(self):
        return next(text for text, number in self._numbers.items() if number == int(self))

    def __repr__(self):
        return "%d" % self

    def __eq__(self, other):
        return self._numbers.get(other) == int(self) if isinstance(other, str) else int.__eq__(self, other)

    def __ne__(self, other):
        return not self == other

    __hash__ = int.__hash__


def words(name, numbers):
    return type(name, (word,), {"_numbers": numbers, "__module__": "pbs"})


WORDS = {  # by TYPE row, or by name of the attribute
    "job_state": words("job_state", {letter: n for n, letter in enumerate("TQHWREXBMFSU")}),
    "resv_state": words("resv_state", {"RESV_" + name: n
                                       for n, name in enumerate(constants.group("RESV_STATE_"))}),
    "queue_type": words("queue_type", {"Execution": constants.CONSTANTS["QTYPE_EXECUTION"],
                                       "Route": constants.CONSTANTS["QTYPE_ROUTE"]}),
    "server_state": words("server_state", {"Hot_Start": 2, "Idle": 3, "Active": 4, "Scheduling": 4,
                                           "Terminating_Delay": 5, "Terminating": 6}),
    "sharing": words("sharing", {name.lower(): n for n, name in enumerate(constants.group("ND_"))}),
    "ntype": words("ntype", {"PBS": constants.CONSTANTS["ND_PBS"]}),
}
