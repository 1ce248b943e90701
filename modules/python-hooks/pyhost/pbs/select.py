# SPDX-License-Identifier: Apache-2.0
#
# select.py - pbs.select: the chunks that a job asks for.

from . import texts, types

BAD = "bad increment specs"


def split(text, at="+"):
    """Parts of a text; a sign inside quotes does not divide it."""
    parts, begin, quote = [], 0, None
    for i, c in enumerate(text):
        if quote:
            quote = None if c == quote else quote
        elif c in "\"'":
            quote = c
        elif c == at:
            parts.append(text[begin:i])
            begin = i + 1
    return parts + [text[begin:]]


def chunk(item):
    """How many, and of what."""
    count, colon, rest = item.partition(":")
    return (int(count), rest) if colon and count.isascii() and count.isdigit() else (1, item)


def more(n, spec):
    """n chunks as the rule of one item increments them."""
    if isinstance(spec, str) and spec.strip().endswith("%"):
        percent = spec.strip()[:-1]
        float(percent)  # a fraction is no percentage
        from fractions import Fraction  # few scripts need it
        grown = n * (100 + Fraction(percent)) / 100
        return -(-grown.numerator // grown.denominator)
    if isinstance(spec, bool) or not isinstance(spec, (int, str)):
        raise ValueError(BAD)
    return n + int(spec)


class select(texts.checked):
    """What a job asks for: select("2:ncpus=4+ncpus=1")."""
    __slots__ = ()

    def increment_chunks(self, increment_spec):
        """Another select with more chunks; of the first item one chunk, the primary host's, stays as it is.
        increment_spec: how many more of each item (2, "2"), by how much more ("50%"), or {item: one of these},
        items counted from 0."""
        if isinstance(increment_spec, bool) or not isinstance(increment_spec, (int, str, dict)):
            raise ValueError(BAD)
        made = []
        for i, item in enumerate(split(self)):
            n, rest = chunk(item)
            kept = min(n, 1) if i == 0 else 0
            if n > kept:
                spec = increment_spec.get(i) if isinstance(increment_spec, dict) else increment_spec
                n = max(kept + more(n - kept, spec), 0)
            made.append("%d:%s" % (n, rest))
        return str.__new__(select, "+".join(made))


types.NAMED["select"] = types.NAMED["schedselect"] = types.RESOURCES["select"] = types.of(select)
