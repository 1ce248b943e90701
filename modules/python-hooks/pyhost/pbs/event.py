# SPDX-License-Identifier: Apache-2.0
#
# event.py - pbs.event(): what happens, and what the script says about it.
from . import constants, objects, rules, run, types
from .errors import (BadAttributeValueError, BadAttributeValueTypeError, EventIncompatibleError,
                     UnsetAttributeNameError)

put = object.__setattr__
TEXT_MAX = 65536  # of a reason; logs and users have less of it
COMMON = {  # members of each event, and where the daemon's map has them
    "type": (None, "type"), "requestor": (None, "requestor"), "requestor_host": (None, "requestor_host"),
    "hook_name": ("hook", "name"), "hook_type": ("hook", "type"),
}
COMMON.update({name: ("hook", name)
               for name in ("user", "alarm", "freq", "debug", "enabled", "order", "fail_action")})
TRUTH = ("enabled", "debug")  # of the hook; these and
NUMBERS = ("alarm", "freq", "order")  # these come as texts
TYPES = {"progname": str, "argv": (list, tuple), "env": dict}
TARGETS = {"job": "job", "resv": "resv"}  # members that are objects to be set; a vnode's is its name
LISTS = {"vnode_list": "vnode:", "vnode_list_fail": "vnode:", "job_list": "job:", "resv_list": None}


class object_list(dict):
    """Objects by name."""

    def __setitem__(self, name, value):
        rules.ended(name)
        if not run.rule.adds or not isinstance(value, objects.Vnode):
            raise AssertionError(run.rule.text)
        if value._sink is not run.changes:
            run.changes[("vnode:" + name, "name", None)] = name
            run.changes.update({("vnode:" + name,) + key[1:]: text for key, text in value._sink.items()})
            put(value, "_sink", run.changes)
        dict.__setitem__(self, name, value)


def listed(name, key, value):
    target = LISTS[name]
    of = (target + key, run.changes) if target else (None, None)
    if value is None:  # there are many: what is used is asked for
        return (objects.Vnode if target else objects.Resv)(key, None, None, *of)
    return objects.made(value, *of)


def list_of(name, found):
    return object_list((key, listed(name, key, value)) for key, value in found.items())


def one_of(name, found):
    if name in TARGETS:
        return objects.made(found, TARGETS[name], run.changes)
    return objects.made(found)


class attribute:
    """One attribute of a management request."""
    __slots__ = ("name", "resource", "value", "op", "flags", "sisters")

    def __init__(self, of):
        for name in self.__slots__[:-1]:
            put(self, name, of.get(name))
        put(self, "sisters", of.get("sisters") or [])

    def __setattr__(self, name, value):
        raise AssertionError(run.rule.text)

    def __str__(self):
        return "%s%s=%s" % (self.name, "." + self.resource if self.resource else "", self.value)


class management:
    """What a request of qmgr was, and its reply."""
    __slots__ = ("cmd", "objtype", "objname", "request_time", "reply_code", "reply_auxcode", "reply_choice",
                 "reply_text", "attribs")

    def __init__(self, of):
        for name in self.__slots__[:-1]:
            put(self, name, of.get(name))
        put(self, "attribs", [attribute(one) for one in of.get("attribs") or ()])

    def __setattr__(self, name, value):
        raise AssertionError(run.rule.text)

    def __str__(self):
        return "%s:%s:%s" % (constants.made["REVERSE_MGR_CMDS"].get(self.cmd, self.cmd),
                             constants.made["REVERSE_MGR_OBJS"].get(self.objtype, self.objtype), self.objname)


class Event:
    """What happens: its members depend on its type."""
    __slots__ = ("_of", "_values")

    def __init__(self, of):
        put(self, "_of", of)
        put(self, "_values", {})

    event_name = property(lambda self: self._of["event"])

    def __getattr__(self, name):
        if name[0] == "_":
            raise AttributeError(name)
        values = self._values
        if name in values:
            return values[name]
        if name in COMMON:
            where, key = COMMON[name]
            found = (self._of[where] if where else self._of).get(key)
        else:
            found = self._of["params"].get(name)
        if found is None and name not in self._of["params"]:
            raise EventIncompatibleError('"%s" not found in self._param' % name)
        values[name] = value = self._make(name, found)
        return value

    @staticmethod
    def _make(name, found):
        if name in TRUTH:
            return found in ("true", True)
        if name in NUMBERS:
            return int(found)
        if name in LISTS:
            return list_of(name, found)
        if name == "management":
            return management(found)
        if name == "src_queue" and isinstance(found, str):
            return objects.Queue(found)
        if isinstance(found, dict) and "class" in found:
            return one_of(name, found)
        if isinstance(found, (dict, list)):
            return type(found)(found)
        return found

    def __setattr__(self, name, value):
        rules.ended(name)
        if name not in run.rule.params:
            if name in COMMON or name in self._of["params"]:
                raise BadAttributeValueError("event attribute '%s' is readonly" % name)
            raise UnsetAttributeNameError("event attribute '%s' not found" % name)
        if not isinstance(value, TYPES[name]):
            raise BadAttributeValueTypeError("event attribute '%s' cannot be of type %s"
                                             % (name, type(value).__name__))
        self._values[name] = value

    def accept(self, ecode=0):
        """The event may go on; the script ends."""
        run.say("accept", None, ecode)

    def reject(self, msg="", ecode=255):
        """It may not; the script ends."""
        run.say("reject", str(msg)[:TEXT_MAX] if msg else None, ecode)

    def _settle(self):
        """Notes what the script made of progname, argv and env."""
        for name in run.rule.params:
            value = self._values.get(name)
            if value is None or value == self._of["params"].get(name):
                continue
            if isinstance(value, str):
                run.changes[("event", name, None)] = types.write_text(value)
                continue
            run.changes[("event", name, None)] = None
            for key, text in value.items() if isinstance(value, dict) else enumerate(value):
                if text is not None:
                    run.changes[("event", name, str(key))] = types.write_text(str(text))
