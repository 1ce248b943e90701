# SPDX-License-Identifier: Apache-2.0
#
# types.py - which Python type a value has, by the TYPE row of its attribute or resource, or by its name.
from . import constants
from .amounts import duration, integer, pbs_bool, size
from .errors import BadAttributeValueError, BadAttributeValueTypeError
from .texts import FORMS, TEXTS, exec_host, exec_vnode, form, hold_types, place, priority, text_types, version
from .words import WORDS, vnode_state


class Kind:
    """`read`: a value of the daemon's text; `write`: a text of a script's value; `asks`: the daemon judges it."""
    __slots__ = ("type", "read", "write", "asks")

    def __init__(self, made, read, write, asks=False):
        self.type, self.read, self.write, self.asks = made, read, write, asks


def unchecked(cls):
    new = str.__new__
    return lambda text: new(cls, text)


def write_int(value):
    if isinstance(value, (bool, float)) or not isinstance(value, (int, str)):
        raise BadAttributeValueTypeError("an int is wanted, not %s" % type(value).__name__)
    return str(integer(value))


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
    return write_text(",".join(map(write_text, value)) if isinstance(value, (list, tuple)) else value)


def write_state(value):
    """The words of a vnode's state that can be set; what the system has set stays."""
    words = [word for word in constants.SETTABLE_STATES if vnode_state(value) & constants.state_bits[word]]
    return ",".join(words) or "free"


def of(cls):
    def write(value):
        text = write_text(value)
        form(cls, text)
        return text
    return Kind(cls, unchecked(cls), write if cls.__name__ in FORMS else write_text, True)


def of_words(cls):
    return Kind(cls, cls, lambda value: str(cls(value)))


TEXT = Kind(str, str, write_text, True)
KINDS = {  # by TYPE row; one that is not here is text
    "bool": Kind(bool, pbs_bool, lambda value: str(pbs_bool(value))),
    "long": Kind(int, int, write_int),
    "float": Kind(float, float, write_float),
    "size": Kind(size, size, lambda value: str(size(value))),
    "time": Kind(duration, duration, lambda value: str(duration(value))),
    "string_array": Kind(str, str, write_list, True),
    "job_holds": Kind(hold_types, unchecked(hold_types), lambda value: str(hold_types(value))),
    "node_state": Kind(vnode_state, vnode_state, write_state),
}
KINDS.update({name: of_words(WORDS[name]) for name in ("job_state", "resv_state")})
KINDS["any"] = Kind(str, str, lambda value: write_text(str(value)))
KINDS["boolean"] = KINDS["bool"]
KINDS["duration"] = KINDS["eligible_clock"] = KINDS["resv_seconds"] = KINDS["time"]
NAMED = {  # by the attribute's name, where its TYPE says less
    "exec_vnode": of(exec_vnode), "resv_nodes": of(exec_vnode),
    "exec_host": of(exec_host), "exec_host2": of(exec_host),
    "pbs_version": of(version), "place": of(place),
    "Priority": Kind(priority, priority, lambda value: str(int(priority(value)))),
}
NAMED.update({_name: of_words(WORDS[_name]) for _name in ("server_state", "queue_type", "sharing", "ntype")})
for _name, _of in TEXTS.items():
    NAMED.update({attribute: of(text_types[_name]) for attribute in _of.split()})
RESOURCES = {name: NAMED[name] for name in ("place", "exec_vnode", "software")}  # and select


class Row:
    """An attribute or a resource."""
    __slots__ = ("name", "type", "flags", "doc", "kind", "make")

    def __init__(self, name, type, flags, doc="", named=NAMED):
        self.name, self.type, self.flags, self.doc = name, type, flags, doc
        self.kind = named.get(name) or KINDS.get(type, TEXT)
        if type == "string_array" and self.kind.write is write_text:
            self.kind = Kind(self.kind.type, self.kind.read, write_list, self.kind.asks)
        self.make = None  # objects.py: makes what is more than one value, of (object, row, what the daemon sent)

    def value(self, text):
        """A text that does not parse is shown as it is."""
        try:
            return self.kind.read(text)
        except (ValueError, TypeError):
            return text
