# SPDX-License-Identifier: Apache-2.0
#
# types.py - values of attributes and resources. A text is a str that its attribute has accepted, an amount is an int: what reads
# one as str or int reads it as it is.
import re

from . import constants, run
from .errors import BadAttributeValueError, BadAttributeValueTypeError

INT64 = 1 << 63


def integer(text, what):
    try:
        value = int(text)
    except ValueError:
        raise BadAttributeValueError("%s: '%s' is no integer" % (what, text)) from None
    if not -INT64 <= value < INT64:
        raise BadAttributeValueError("%s: %s does not fit in 64 bits" % (what, text))
    return value


# ---- amounts ---------------------------------------------------------------------------------------------------------

UNITS = {letter: 1 << 10 * i for i, letter in enumerate(("", "k", "m", "g", "t", "p"))}
WORD = 8


class size(int):
    """An amount of memory: size("10gb"), size(1024). As an int: bytes."""
    _form = re.compile(r"([0-9]+)([kmgtp]?)([bw]?)", re.I)

    def __new__(cls, value=0):
        if isinstance(value, str):
            found = cls._form.fullmatch(value.strip())
            if found is None:
                raise BadAttributeValueError("'%s' is no size: digits and a unit of b, kb, mb, gb, tb, pb, w ... pw" % value)
            n = int(found[1]) * UNITS[found[2].lower()] * (WORD if found[3] in ("w", "W") else 1)
        elif isinstance(value, int):
            n = int(value)
        else:
            raise BadAttributeValueTypeError("a size is made of a text or an int, not of %s" % type(value).__name__)
        if not -INT64 <= n < INT64:
            raise BadAttributeValueError("size: %s does not fit in 64 bits" % value)
        self = int.__new__(cls, n)
        self._text = value if isinstance(value, str) else None
        return self

    def __str__(self):
        if self._text is None:
            self._text = self._shown()
        return self._text

    def _shown(self):
        n, i = int(self), 0
        while n and n % 1024 == 0 and i < 5:
            n, i = n // 1024, i + 1
        return "%d%sb" % (n, ("", "k", "m", "g", "t", "p")[i])

    def __repr__(self):
        return "size('%s')" % self

    def __add__(self, other):
        return size(int(self) + int(size(other)))

    def __sub__(self, other):
        return size(int(self) - int(size(other)))

    def __rsub__(self, other):
        return size(int(size(other)) - int(self))

    __radd__ = __add__
    __hash__ = int.__hash__


class duration(int):
    """A time: duration("1:30:00"), duration(90). As an int: seconds."""
    _form = re.compile(r"(?:(?:([0-9]+):)?([0-9]+):)?([0-9]+)(?:\.[0-9]*)?")

    def __new__(cls, value=0):
        if isinstance(value, str):
            found = cls._form.fullmatch(value.strip())
            if found is None:
                raise BadAttributeValueError("'%s' is no duration: [[hours:]minutes:]seconds[.milliseconds]" % value)
            n = int(found[1] or 0) * 3600 + int(found[2] or 0) * 60 + int(found[3])
        elif isinstance(value, (int, float)):
            n = int(value)
        else:
            raise BadAttributeValueTypeError("a duration is made of a text or a number, not of %s" % type(value).__name__)
        if not -INT64 <= n < INT64:
            raise BadAttributeValueError("duration: %s does not fit in 64 bits" % value)
        self = int.__new__(cls, n)
        self._text = value if isinstance(value, str) else None
        return self

    def __str__(self):
        if self._text is None:
            n = abs(int(self))
            self._text = "%s%02d:%02d:%02d" % ("-" if int(self) < 0 else "", n // 3600, n // 60 % 60, n % 60)
        return self._text

    def __repr__(self):
        return "duration('%s')" % self

    def __add__(self, other):
        return duration(int(self) + int(duration(other)))

    def __sub__(self, other):
        return duration(int(self) - int(duration(other)))

    def __rsub__(self, other):
        return duration(int(duration(other)) - int(self))

    __radd__ = __add__
    __hash__ = int.__hash__


def compared(cls):
    """Amounts compare with texts of amounts, too: size("1gb") == "1024mb"."""
    def method(name):
        plain = getattr(int, name)

        def compare(self, other):
            if isinstance(other, str):
                try:
                    other = cls(other)
                except ValueError:
                    return NotImplemented
            return plain(self, other)
        return compare
    for name in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"):
        setattr(cls, name, method(name))


for _cls in (size, duration):
    compared(_cls)


def size_to_kbytes(value):
    """Kilobytes of a size, rounded up."""
    return -(-int(size(value)) // 1024)


class pbs_bool:
    """True or False of a value as attributes have it: pbs_bool("y")."""
    _words = {"true": True, "t": True, "1": True, "y": True, "yes": True, "false": False, "f": False, "0": False, "n": False,
              "no": False}

    def __new__(cls, value=False):
        if isinstance(value, str):
            if value.lower() not in cls._words:
                raise BadAttributeValueError("'%s' is neither True nor False" % value)
            return cls._words[value.lower()]
        if isinstance(value, int) and value in (0, 1):
            return bool(value)
        raise BadAttributeValueTypeError("True or False is wanted, not %s" % type(value).__name__)


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


class job_state(int):
    """One of pbs.JOB_STATE_...; equals its letter, too."""
    _letters = "TQHWREXBMFSU"

    def __new__(cls, value):
        return int.__new__(cls, cls._letters.index(value) if isinstance(value, str) else value)

    def __str__(self):
        return self._letters[self] if 0 <= self < len(self._letters) else int.__repr__(self)

    def __eq__(self, other):
        return str(self) == other if isinstance(other, str) else int.__eq__(self, other)

    def __ne__(self, other):
        return not self == other

    __hash__ = int.__hash__


class resv_state(int):
    """One of pbs.RESV_STATE_..."""

    def __new__(cls, value):
        if isinstance(value, str):
            value = {name: n for n, name in cls._names()}.get(value.replace("RESV_", "", 1), 0)
        return int.__new__(cls, value)

    @staticmethod
    def _names():
        return enumerate(next(names for prefix, _, names in constants.COUNTED if prefix == "RESV_STATE_").split())


# ---- texts -----------------------------------------------------------------------------------------------------------

class checked(str):
    """A text that is a value of its attribute."""
    __slots__ = ()

    def __new__(cls, text=""):
        if not isinstance(text, str):
            raise BadAttributeValueTypeError("a %s is made of a text, not of %s" % (cls.__name__, type(text).__name__))
        if type(text) is not cls and cls in owners:
            run.check(*owners[cls], str(text))
        return str.__new__(cls, text)


class place(checked):
    """How chunks are arranged: place("scatter:excl:group=host")."""
    __slots__ = ()


class hold_types(checked):
    """Letters of holds, u o s p, or n for none: `+` adds holds, `-` takes some away."""
    __slots__ = ()

    def __new__(cls, text="n"):
        if not isinstance(text, str):
            raise BadAttributeValueTypeError("holds are letters, not %s" % type(text).__name__)
        if text.strip("uospn") or not text:
            raise BadAttributeValueError("'%s' are no holds: letters u, o, s, p, or n for none" % text)
        return str.__new__(cls, text)

    def _set(self):
        return set(self) - {"n"}

    def __add__(self, other):
        return hold_types("".join(dict.fromkeys(c for c in str(self) + hold_types(other)[:] if c != "n")) or "n")

    def __sub__(self, other):
        gone = hold_types(other)._set()
        return hold_types("".join(c for c in self if c not in gone and c != "n") or "n")

    def __eq__(self, other):
        return isinstance(other, str) and self._set() == set(other) - {"n"}

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash("".join(sorted(self._set())))


class vchunk:
    """What one vnode gives: .vnode_name, and .chunk_resources {name: value}."""
    __slots__ = ("vnode_name", "chunk_resources", "_text")

    def __init__(self, text):
        if not isinstance(text, str):
            raise BadAttributeValueTypeError("a vchunk is made of a text, not of %s" % type(text).__name__)
        self._text = text.strip("()")
        self.vnode_name, *rest = self._text.split(":")
        self.chunk_resources = {}
        for item in rest:
            name, equals, value = item.partition("=")
            if not name or not equals:
                raise BadAttributeValueError("'%s' is no vchunk: vnode:resource=value:..." % text)
            self.chunk_resources[name] = run.resources[name.lower()].value(value) if name.lower() in run.resources else value
        if not self.vnode_name:
            raise BadAttributeValueError("'%s' is no vchunk: it begins with the name of a vnode" % text)

    def __str__(self):
        return self._text

    __repr__ = __str__


class exec_vnode(str):
    """Vnodes of a job and what it has of each: .chunks, a vchunk for each vnode."""

    @property
    def chunks(self):
        return [vchunk(item) for item in self.split("+")] if self else []


class exec_host(str):
    """Hosts of a job: host/slot*cpus+..."""
    __slots__ = ()


class version(str):
    """A version of PBS, as text."""
    __slots__ = ()


class priority(int):
    """-1024 to 1023."""

    def __new__(cls, value=0):
        if not isinstance(value, (int, str)):
            raise BadAttributeValueTypeError("a priority is an int, not %s" % type(value).__name__)
        n = integer(value, "priority")
        if not -1024 <= n <= 1023:
            raise BadAttributeValueError("priority: %d is not within -1024 and 1023" % n)
        return int.__new__(cls, n)

    def __eq__(self, other):
        return str(int(self)) == other if isinstance(other, str) else int.__eq__(self, other)

    def __ne__(self, other):
        return not self == other

    __hash__ = int.__hash__


# Types that are the checked text of attributes, and of which: the first that there is judges the text.
TEXTS = {
    "checkpoint": "Checkpoint", "depend": "depend", "keep_files": "Keep_Files", "mail_points": "Mail_Points",
    "email_list": "Mail_Users", "join_path": "Join_Path", "path": "Output_Path Error_Path", "path_list": "Shell_Path_List",
    "staging_list": "stagein stageout", "user_list": "User_List", "group_list": "group_list",
    "acl": "acl_users acl_hosts acl_groups acl_roots acl_resv_users acl_resv_hosts acl_resv_groups managers operators"
    " Authorized_Users Authorized_Groups Authorized_Hosts", "range": "array_indices_submitted array_indices_remaining",
    "args": "argument_list", "sandbox": "sandbox", "name": "Job_Name", "project": "project",
    "software": "", "job_sort_formula": "job_sort_formula", "node_group_key": "node_group_key",
    "route_destinations": "route_destinations", "state_count": "state_count array_state_count", "license_count": "license_count",
}
text_types = {}
for _name in TEXTS:
    text_types[_name] = type(_name, (checked,), {"__slots__": (), "__module__": "pbs", "__doc__": "Text of %s." % TEXTS[_name]})
owners = {}  # {type: (class, attribute, key)}: who judges a text


# ---- how a value is read, and set ------------------------------------------------------------------------------------

class Kind:
    """`read` makes a value of the daemon's text, `write` a text of a script's value; `asks`: the daemon judges the text."""
    __slots__ = ("type", "read", "write", "asks")

    def __init__(self, made, read, write, asks=False):
        self.type, self.read, self.write, self.asks = made, read, write, asks


def unchecked(cls):
    new = str.__new__
    return lambda text: new(cls, text)


def write_int(value):
    if isinstance(value, (bool, float)) or not isinstance(value, (int, str)):
        raise BadAttributeValueTypeError("an int is wanted, not %s" % type(value).__name__)
    return str(integer(value, "value"))


def write_float(value):
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise BadAttributeValueTypeError("a number is wanted, not %s" % type(value).__name__)
    try:
        float(value)
    except ValueError:
        raise BadAttributeValueError("'%s' is no number" % value) from None
    return str(value)


def write_text(value):
    if not isinstance(value, str):
        raise BadAttributeValueTypeError("a text is wanted, not %s" % type(value).__name__)
    text = str(value)
    if "\0" in text:
        raise BadAttributeValueError("a text has no NUL in it")
    return text


def write_list(value):
    return write_text(",".join(value) if isinstance(value, (list, tuple)) else value)


def write_state(value):
    """The words of a vnode's state that can be set; what the system has set stays."""
    words = [word for word in constants.SETTABLE_STATES if vnode_state(value) & constants.state_bits[word]]
    return ",".join(words) or "free"


def of(cls, asks=True):
    read = unchecked(cls)
    if cls is hold_types:
        return Kind(cls, read, lambda value: write_text(cls(value)))
    return Kind(cls, read, write_text, asks)


TEXT = Kind(str, str, write_text, True)
KINDS = {  # by TYPE row; one that is not here is text
    "bool": Kind(bool, pbs_bool, lambda value: str(pbs_bool(value))),
    "long": Kind(int, int, write_int),
    "float": Kind(float, float, write_float),
    "size": Kind(size, size, lambda value: str(size(value))),
    "time": Kind(duration, duration, lambda value: str(duration(value))),
    "string_array": Kind(str, str, write_list, True),
    "job_holds": of(hold_types),
    "job_state": Kind(job_state, job_state, write_text, True),
    "resv_state": Kind(resv_state, resv_state, write_text, True),
    "node_state": Kind(vnode_state, vnode_state, write_state),
}
KINDS["boolean"] = KINDS["bool"]
KINDS["duration"] = KINDS["eligible_clock"] = KINDS["resv_seconds"] = KINDS["time"]
NAMED = {  # by the attribute's name, where its TYPE says less
    "exec_vnode": of(exec_vnode), "resv_nodes": of(exec_vnode), "exec_host": of(exec_host), "exec_host2": of(exec_host),
    "pbs_version": of(version), "place": of(place),
    "Priority": Kind(priority, priority, lambda value: str(int(priority(value)))),
}
for _name, _of in TEXTS.items():
    NAMED.update({attribute: of(text_types[_name]) for attribute in _of.split()})
NAMED["software"] = of(text_types["software"])


class Row:
    """An attribute or a resource."""
    __slots__ = ("name", "type", "flags", "doc", "kind", "make")

    def __init__(self, name, type, flags, doc=""):
        self.name, self.type, self.flags, self.doc = name, type, flags, doc
        self.kind = NAMED.get(name) or KINDS.get(type, TEXT)
        self.make = None  # objects.py: makes what is more than one value, of (object, row, what the daemon sent)

    def value(self, text):
        """A text that does not parse is shown as it is."""
        try:
            return self.kind.read(text)
        except (ValueError, TypeError):
            return text
