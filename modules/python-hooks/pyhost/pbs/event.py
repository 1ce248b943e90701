# SPDX-License-Identifier: Apache-2.0
#
# event.py - pbs.event(): what happens, and what the script says about it.
from . import objects, rules, run
from .errors import BadAttributeValueError, EventIncompatibleError, UnsetAttributeNameError

put = object.__setattr__
COMMON = {  # members of each event, and where the daemon's map has them
    "type": (None, "type"), "requestor": (None, "requestor"), "requestor_host": (None, "requestor_host"),
    "hook_name": ("hook", "name"), "hook_type": ("hook", "type"), "user": ("hook", "user"), "alarm": ("hook", "alarm"),
    "freq": ("hook", "freq"), "debug": ("hook", "debug"), "enabled": ("hook", "enabled"), "order": ("hook", "order"),
    "fail_action": ("hook", "fail_action"),
}
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


def list_of(name, found):
    target = LISTS[name]
    if target is None:
        return object_list((key, objects.made(value)) for key, value in found.items())
    return object_list((key, objects.made(value, target + key, run.changes)) for key, value in found.items())


def one_of(name, found):
    if name in TARGETS:
        return objects.made(found, TARGETS[name], run.changes)
    return objects.made(found)


class Event:
    """What happens: its members depend on its type."""
    __slots__ = ("_of", "_values")

    def __init__(self, of):
        put(self, "_of", of)
        put(self, "_values", {})

    def __getattr__(self, name):
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
        if name in LISTS:
            return list_of(name, found)
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
        self._values[name] = value

    def accept(self, ecode=0):
        """The event may go on; the script ends."""
        run.say("accept", None, ecode)

    def reject(self, msg="", ecode=255):
        """It may not; the script ends."""
        run.say("reject", str(msg) or None, ecode)

    def _settle(self):
        """Notes what the script made of progname, argv and env."""
        for name in run.rule.params:
            value = self._values.get(name)
            if value is None or value == self._of["params"].get(name):
                continue
            if isinstance(value, str):
                run.changes[("event", name, None)] = value
                continue
            run.changes[("event", name, None)] = None
            pairs = value.items() if isinstance(value, dict) else enumerate(value)
            run.changes.update({("event", name, str(key)): str(text) for key, text in pairs})
