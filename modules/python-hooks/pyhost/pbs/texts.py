# SPDX-License-Identifier: Apache-2.0
#
# texts.py - values that are texts. One is a str: it compares with texts as it is.
import re

from . import run
from .amounts import integer
from .errors import BadAttributeValueError, BadAttributeValueTypeError


FORMS = {  # what commands check before they ask the daemon, and what it looks like
    "checkpoint": (r"[nscwu]|[cw]=[0-9]+", "n, s, c, w, u, c=minutes or w=minutes"),
    "join_path": (r"oe|eo|n", "oe, eo or n"),
    "keep_files": (r"n|d?[oe][oed]*", "letters o, e, d, or n"),
    "mail_points": (r"n|j?[abec][abecj]*", "letters a, b, c, e, j, or n"),
    "path": (r"[^:/]+:.+|[^:/]*(/.*)?", "path or host:path"),
    "sandbox": (r"(?i:HOME|PRIVATE|O_WORKDIR)", "HOME or PRIVATE"),
    "depend": (r"([a-z]+:[^,:]+(:[^,:]+)*)(,[a-z]+:[^,:]+(:[^,:]+)*)*", "type:job,..."),
}


def form(cls, text):
    """Fails when the text cannot be one of this type."""
    wanted, says = FORMS.get(cls.__name__, (None, None))
    if wanted is not None and text and not re.fullmatch(wanted, text, re.S):
        raise BadAttributeValueError("'%s' is no %s: %s" % (text, cls.__name__, says))


class checked(str):
    """A text that is a value of its attribute."""
    __slots__ = ()

    def __new__(cls, text=""):
        if not isinstance(text, str):
            raise BadAttributeValueTypeError("%s is made of a text, not %s" % (cls.__name__, type(text).__name__))
        if type(text) is not cls:
            form(cls, str(text))
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
            row = run.resources.get(name.lower())
            self.chunk_resources[name] = row.value(value) if row else value
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
        n = integer(value)
        if not -1024 <= n <= 1023:
            raise BadAttributeValueError("%d is not within -1024 and 1023" % n)
        return int.__new__(cls, n)

    def __eq__(self, other):
        return str(int(self)) == other if isinstance(other, str) else int.__eq__(self, other)

    def __ne__(self, other):
        return not self == other

    __hash__ = int.__hash__


# Types that are the checked text of attributes, and of which: the first that there is judges the text.
TEXTS = {
    "checkpoint": "Checkpoint", "depend": "depend", "keep_files": "Keep_Files", "mail_points": "Mail_Points",
    "email_list": "Mail_Users", "join_path": "Join_Path", "path": "Output_Path Error_Path",
    "path_list": "Shell_Path_List", "staging_list": "stagein stageout", "user_list": "User_List",
    "group_list": "group_list", "range": "array_indices_submitted array_indices_remaining",
    "args": "argument_list", "sandbox": "sandbox", "name": "Job_Name", "project": "project",
    "software": "software",
    "job_sort_formula": "job_sort_formula", "node_group_key": "node_group_key",
    "route_destinations": "route_destinations", "state_count": "state_count array_state_count",
    "license_count": "license_count",
    "acl": "acl_users acl_hosts acl_groups acl_roots acl_resv_users acl_resv_hosts acl_resv_groups managers"
           " operators Authorized_Users Authorized_Groups Authorized_Hosts",
}
text_types = {
    name: type(name, (checked,), {"__slots__": (), "__module__": "pbs", "__doc__": "A text of %s." % of})
    for name, of in TEXTS.items()}
owners = {}  # {type: (class, attribute, key)}: who judges a text
