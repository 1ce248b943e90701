# SPDX-License-Identifier: Apache-2.0
#
# objects.py - jobs, vnodes, reservations, queues and the server as scripts see them. An object holds what the daemon sent of it;
# an attribute becomes a value when it is read. What a script sets is noted in run.changes.
import _keelson

from . import constants, rules, run, types
from .errors import (BadAttributeValueError, BadAttributeValueTypeError, BadResourceValueError, BadResourceValueTypeError,
                     UnsetAttributeNameError, UnsetResourceNameError)

put = object.__setattr__
READONLY = 0x10000  # of an attribute's flags: the system alone sets it


def text_of(row, value, klass, attribute, key=None):
    """A script's value as the daemon's text; fails when it is none."""
    bad_type, bad = ((BadAttributeValueTypeError, BadAttributeValueError) if key is None else
                     (BadResourceValueTypeError, BadResourceValueError))
    try:
        text = row.kind.write(value)
    except BadAttributeValueTypeError as e:
        raise bad_type("%s: %s" % (key or attribute, e)) from None
    except BadAttributeValueError as e:
        raise bad(str(e) if "'" in str(e) else "%s: %s" % (key or attribute, e)) from None
    if row.kind.asks and (type(value) is not row.kind.type or type(value) is str):
        run.check(klass, attribute, key, text, bad)
    return text


class Keyed:
    """What an attribute with keys has in common: pbs_resource, pbs_env."""
    __slots__ = ("_of", "_name", "_texts", "_values")

    def __init__(self, of, row, texts):
        self._of, self._name, self._texts, self._values = of, row.name, dict(texts or {}), {}

    def __contains__(self, key):
        return self._key(key) in self._texts

    def __iter__(self):
        return iter(self.keys())

    def __len__(self):
        return len(self._texts)

    def __str__(self):
        return ",".join("%s=%s" % pair for pair in self._texts.items())

    def __repr__(self):
        return "{%s}" % self

    def __eq__(self, other):
        return str(self) == other if isinstance(other, str) else self is other

    def __hash__(self):
        return id(self)

    def __delitem__(self, key):
        self[key] = None

    def keys(self):
        return list(self._texts)

    def values(self):
        return [self[key] for key in self._texts]

    def items(self):
        return [(key, self[key]) for key in self._texts]

    def get(self, key, otherwise=None):
        return self[key] if key in self else otherwise

    def has_key(self, key):
        return key in self


class pbs_resource(Keyed):
    """Resources by name, as in job.Resource_List["ncpus"]."""
    __slots__ = ()

    @staticmethod
    def _key(name):
        row = run.resources.get(name.lower())
        return row.name if row else name

    def _row(self, name):
        row = run.resources.get(name.lower())
        if row is None and not run.mom:
            raise UnsetResourceNameError("resource attribute '%s' not found" % name)
        return row or types.Row(name, "string", 0)

    def __getitem__(self, name):
        value = self._values.get(name)
        if value is None:
            row = self._row(name)
            text = self._texts.get(row.name)
            if text is not None:
                value = self._values[name] = row.value(text)
        return value

    def __setitem__(self, name, value):
        of = self._of
        rules.settable(of, self._name, name)
        row = self._row(name)
        name = row.name
        text = None if value is None else text_of(row, value, of._class, self._name, name)
        of._sink[(of._target, self._name, name)] = text
        self._values.clear()
        if text is None:
            self._texts.pop(name, None)
        else:
            self._texts[name] = text


def variables(text):
    """NAME=value,... ; a comma, a quote or a backslash inside a value has a backslash before it."""
    made, item, escaped = [], "", False
    for c in text + ",":
        if escaped or c not in ",\\":
            item, escaped = item + c, False
        elif c == "\\":
            escaped = True
        else:
            made.append(item)
            item = ""
    return dict(item.partition("=")[::2] for item in made if item)


class pbs_env(Keyed):
    """Variables of a job by name, as in job.Variable_List["HOME"]."""
    __slots__ = ()
    _escaped = str.maketrans({c: "\\" + c for c in ",\\\"'"})

    def __init__(self, of, row, texts):
        Keyed.__init__(self, of, row, variables(texts) if isinstance(texts, str) else texts)

    @staticmethod
    def _key(name):
        return name

    def __getitem__(self, name):
        return self._texts.get(name)

    def __setitem__(self, name, value):
        of = self._of
        rules.settable(of, self._name, name)
        if not isinstance(name, str) or not name or "=" in name or "\0" in name:
            raise BadAttributeValueError("'%s' is no name of a variable" % (name,))
        if name.startswith("PBS_") or name == "TMPDIR":
            raise BadAttributeValueError("env variable '%s' is readonly" % name)
        if value is None:
            self._texts.pop(name, None)
        else:
            self._texts[name] = types.write_text(str(value))
        of._sink[(of._target, self._name, None)] = self._line() or None

    def _line(self):
        return ",".join("%s=%s" % (name, value.translate(self._escaped)) for name, value in self._texts.items())


class Object:
    __slots__ = ("_id", "_attrs", "_facts", "_values", "_target", "_sink")
    _class = _kind = None  # of the daemon; in messages
    _rows = {}

    def __init__(self, id, attrs=None, facts=None, target=None, sink=None):
        put(self, "_id", id)
        put(self, "_attrs", attrs)
        put(self, "_facts", facts or {})
        put(self, "_values", {})
        put(self, "_target", target)
        put(self, "_sink", sink)

    def __str__(self):
        return self._id

    def __repr__(self):
        return "<%s %s>" % (self._kind, self._id)

    def __eq__(self, other):
        if isinstance(other, str):
            return self._id == other
        return isinstance(other, Object) and self._class == other._class and self._id == other._id

    def __hash__(self):
        return hash(self._id)

    def _load(self):
        found = run.ask("object", self._class, self._id)
        put(self, "_attrs", found["attrs"] if found else {})
        put(self, "_facts", found.get("facts") or {} if found else {})

    def __getattr__(self, name):
        values = self._values
        if name in values:
            return values[name]
        row = self._rows.get(name)
        if row is None:
            raise UnsetAttributeNameError("%s attribute '%s' not found" % (self._kind, name))
        if self._attrs is None:
            self._load()
        text = self._attrs.get(name)
        if row.make is not None:
            value = row.make(self, row, text)
        else:
            value = None if text is None else row.value(text)
        values[name] = value
        return value

    def __setattr__(self, name, value):
        if name == "_readonly":
            return self._close(value)
        row = self._rows.get(name)
        rules.settable(self, name)
        if row is None:
            raise UnsetAttributeNameError("%s attribute '%s' not found" % (self._kind, name))
        if row.flags & READONLY and not run.mom:
            raise BadAttributeValueError("%s attribute '%s' is readonly" % (self._kind, name))
        text = None if value is None else self._text(row, value)
        self._sink[(self._target, name, None)] = text
        self._values.pop(name, None)
        if self._attrs is None:
            self._load()
        self._attrs[name] = text

    def _text(self, row, value):
        if row.make is pbs_env:
            raise BadAttributeValueError("attribute '%s' cannot be directly set." % row.name)
        if row.make is pbs_resource:
            raise AssertionError("can't set the head resource '%s' directly " % row.name)
        if row.make is not None and isinstance(value, Object):
            value = value._id
        return text_of(row, value, self._class, row.name)

    def _close(self, value):
        if value is not True:
            raise BadAttributeValueError("_readonly can only be set to True!")
        put(self, "_sink", None)


class Queue(Object):
    """A queue."""
    __slots__ = ()
    _class = _kind = "queue"

    def __init__(self, name, *rest):
        Object.__init__(self, name, *rest)

    name = property(str)

    def job(self, id):
        found = get("job", full_id(id))
        return found if found is not None and found.queue == self._id else None

    def jobs(self):
        return walk("job", self._id)


class Vnode(Object):
    """A vnode; pbs.vnode("x") makes one for vnode_list."""
    __slots__ = ()
    _class, _kind = "node", "vnode"

    def __init__(self, name, attrs=None, facts=None, target=None, sink=None):
        if target is None and attrs is None:
            attrs, target, sink = {}, "vnode:" + name, {}
        Object.__init__(self, name, attrs, facts, target, sink)

    name = property(str)

    def extract_state_ints(self):
        state = int(self.state or 0)
        return [bit for bit in constants.state_names if bit & state] or [0]

    def extract_state_strs(self):
        return [constants.state_names[bit] for bit in self.extract_state_ints()]


class Resv(Object):
    """A reservation."""
    __slots__ = ()
    _class = _kind = "resv"
    resvid = property(str)


class Job(Object):
    """A job."""
    __slots__ = ()
    _class = _kind = "job"
    id = property(str)


class Server(Object):
    """The server; read only."""
    __slots__ = ()
    _class = _kind = "server"
    name = property(str)


CLASSES = {"job": Job, "host_job": Job, "node": Vnode, "host_vnode": Vnode, "resv": Resv, "queue": Queue, "server": Server}
REFERS = {"queue": Queue, "server": Server}  # attributes that name an object


def made(found, target=None, sink=None):
    """The object of what the daemon sent, to be read; with a sink, to be set."""
    return CLASSES[found["class"]](found["id"], found["attrs"], found.get("facts"), target, sink)


def refer(of, row, text):
    return None if text is None else REFERS[row.name](text)


def get(klass, id):
    found = run.ask("object", klass, id)
    return None if found is None else made(found)


def walk(klass, of=None):
    after = None
    while True:
        page, after = run.ask("list", klass, after, of)
        for found in page:
            yield made(found)
        if after is None:
            return


def full_id(id):
    id = str(id)
    return id if "." in id else "%s.%s" % (id, run.setup["server"])


def rows(tables):
    """Fills the classes from the daemon's tables."""
    run.resources.clear()
    for name, row in tables["resources"].items():
        run.resources[name.lower()] = types.Row(name, *row)
    for klass, attributes in tables["attrs"].items():
        made = run.rows[klass] = {name: types.Row(name, *row) for name, row in attributes.items()}
        for row in made.values():
            row.make = maker(row)
        if klass in CLASSES:
            CLASSES[klass]._rows = made


def maker(row):
    if row.type == "resource_list":
        return pbs_resource
    if row.name == "Variable_List":
        return pbs_env
    return refer if row.name in REFERS else None
