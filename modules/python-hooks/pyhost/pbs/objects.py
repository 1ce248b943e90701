# SPDX-License-Identifier: Apache-2.0
#
# objects.py - vnodes, reservations, queues and the server as scripts see them (jobs: job.py). An object holds what
# the daemon sent of it; an attribute becomes a value when it is read. What a script sets is noted in run.changes.
from . import constants, keyed, rules, run, types, words
from .errors import BadAttributeValueError, UnsetAttributeNameError

put = object.__setattr__


class Attribute(types.Row):
    """An attribute of a class: a member of its objects, which makes a value when it is read."""
    __slots__ = ()

    def __get__(self, of, cls=None):
        if of is None:
            return self
        name, values = self.name, of._values
        if name in values:
            return values[name]
        if of._attrs is None:
            of._load()
        text = of._attrs.get(name)
        if self.make is not None:
            value = self.make(of, self, text)
        elif type(text) is dict:
            value = keyed.pbs_keys(of, self, text)
        else:
            value = None if text is None else self.value(text)
        values[name] = value
        return value


class Object:
    __slots__ = ("_id", "_attrs", "_facts", "_values", "_target", "_sink")
    _class = _kind = None  # of the daemon; in messages
    _rows = {}

    @classmethod
    def _members(cls, rows):
        """What the class has of its own stays: a vnode's name, a job's select."""
        cls._rows = rows
        for name, row in rows.items():
            if not hasattr(cls, name):
                setattr(cls, name, row)

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
        if name[0] == "_":
            return self._inner(name)
        raise UnsetAttributeNameError("%s attribute '%s' not found" % (self._kind, name))

    def _inner(self, name):
        if name != "_readonly":
            raise AttributeError(name)
        return self._sink is None

    def __setattr__(self, name, value):
        if name == "_readonly":
            return self._close(value)
        row = self._rows.get(name)
        rules.settable(self, name)
        if row is None and not hasattr(type(self), name):
            raise UnsetAttributeNameError("%s attribute '%s' not found" % (self._kind, name))
        if row is None or (row.flags & keyed.READONLY and not run.mom):
            raise BadAttributeValueError("%s attribute '%s' is readonly" % (self._kind, name))
        text = self._text(row, value)
        self._sink[(self._target, name, None)] = text
        if type(value) is row.kind.type:
            self._values[name] = value
        else:
            self._values.pop(name, None)
        if self._attrs is None:
            self._load()
        self._attrs[name] = text

    def _text(self, row, value):
        if row.make is keyed.pbs_env:
            raise BadAttributeValueError("attribute '%s' cannot be directly set." % row.name)
        if row.type == "resource_list":
            raise AssertionError("can't set the head resource '%s' directly " % row.name)
        if value is None:
            return None
        if row.make is not None and isinstance(value, Object):
            value = value._id
        return keyed.text_of(row, value, self._class, row.name)

    def _close(self, value):
        if value is not True:
            raise BadAttributeValueError("_readonly can only be set to True!")
        put(self, "_sink", None)


class Queue(Object):
    """A queue."""
    __slots__ = ()
    _class = _kind = "queue"

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
        if facts and "state" in facts:  # it was another one, or is by now
            attrs = dict(attrs, state=facts["state"])
        Object.__init__(self, name, attrs, facts, target, sink)

    name = property(str)

    def _text(self, row, value):
        """Bits that only the system sets may stay, but are not set."""
        if row.type == "node_state":
            new = words.vnode_state(value)
            if new & ~int(self.state or 0) & ~words.settable_bits():
                raise BadAttributeValueError("invalid vnode state value '%s'" % value)
        return Object._text(self, row, value)

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


class Server(Object):
    """The server; read only."""
    __slots__ = ()
    _class = _kind = "server"
    name = property(str)

    def job(self, id):
        return get("job", full_id(id))

    def vnode(self, name):
        found = run.ask("object", "node", str(name))
        if found is None or not run.rule.of_server:
            return found and made(found)
        return made(found, "vnode:" + found["id"], run.changes)

    def queue(self, name):
        if "@" in str(name):
            raise AssertionError("Got '%s', please specify a queue name only (no @)" % name)
        return get("queue", str(name))

    def resv(self, id):
        return get("resv", full_id(id))

    def jobs(self):
        return walk("job")

    def vnodes(self):
        return walk("node")

    def queues(self):
        return walk("queue")

    def resvs(self):
        return walk("resv")

    def scheduler_restart_cycle(self):
        """Another scheduling cycle begins when the script has ended."""
        rules.ended("scheduler_restart_cycle")
        run.wanted["restart_cycle"] = 1


CLASSES = {"node": Vnode, "host_vnode": Vnode, "resv": Resv, "queue": Queue, "server": Server}
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
