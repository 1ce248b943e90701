# SPDX-License-Identifier: Apache-2.0
#
# keyed.py - attributes with several values by key: resources, and variables of a job.
import re

from . import rules, run, types
from .errors import (BadAttributeValueError, BadAttributeValueTypeError, BadResourceValueError,
                     BadResourceValueTypeError, UnsetResourceNameError)

READONLY = 0x10000  # of an attribute's flags: the system alone sets it
RESOURCE_READONLY, RESOURCE_SYSTEM = 32, 512


def text_of(row, value, klass, attribute, key=None):
    """A script's value as the daemon's text; fails when it is none."""
    bad_type, bad = ((BadAttributeValueTypeError, BadAttributeValueError) if key is None else
                     (BadResourceValueTypeError, BadResourceValueError))
    try:
        text = row.kind.write(value)
    except BadAttributeValueTypeError as e:
        raise bad_type("%s: %s" % (key or attribute, e)) from None
    except BadAttributeValueError as e:
        raise bad(str(e) if row.type == "node_state" else "%s: %s" % (key or attribute, e)) from None
    if row.kind.asks and (type(value) is not row.kind.type or type(value) is str):
        run.check(klass, attribute, key, text, bad)
    return text


class Keyed:
    """What attributes with keys have in common: pbs_resource, pbs_keys, pbs_env."""
    __slots__ = ("_of", "_name", "_flags", "_texts", "_values")

    def __init__(self, of, row, texts):
        self._of, self._name, self._flags, self._values = of, row.name, row.flags, {}
        self._texts = {key: text for key, text in texts.items() if text is not None} if texts else {}

    def _settable(self, key):
        rules.settable(self._of, self._name, key)
        if self._flags & READONLY and not run.mom:
            raise BadAttributeValueError("%s attribute '%s' is readonly" % (self._of._kind, self._name))

    @staticmethod
    def _key(name):
        return name

    def __getitem__(self, name):
        return self._texts.get(name)

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
        return row or types.Row(name, "any", 0)

    def __getitem__(self, name):
        value = self._values.get(name)
        if value is None:
            row = self._row(name)
            text = self._texts.get(row.name)
            if text is not None:
                value = self._values[name] = row.value(text)
        return value

    def __setitem__(self, name, value):
        self._settable(name)
        of, row = self._of, self._row(name)
        name = row.name
        if row.flags & (RESOURCE_READONLY | RESOURCE_SYSTEM) and not run.mom:
            raise BadResourceValueError("resource attribute '%s' is readonly" % name)
        text = None if value is None else text_of(row, value, of._class, self._name, name)
        of._sink[(of._target, self._name, name)] = text
        self._values.clear()
        if text is None:
            self._texts.pop(name, None)
        else:
            self._texts[name] = text


def resource_or_none(of, row, texts):
    return None if texts is None else pbs_resource(of, row, texts)


class pbs_keys(Keyed):
    """Texts by key, as in server.max_run_res["ncpus"]; of objects that are read only."""
    __slots__ = ()

    def __setitem__(self, name, value):
        self._settable(name)
        self._of._sink[(self._of._target, self._name, name)] = None if value is None else types.write_text(value)


ITEM, SIGN = re.compile(r"(?:[^\\,]|\\.)+", re.S), re.compile(r"\\(.)", re.S)


def variables(text):
    """NAME=value,... ; a comma, a quote or a backslash inside a value has a backslash before it."""
    if "\\" not in text:
        return dict(item.partition("=")[::2] for item in text.split(",") if item)
    items = (SIGN.sub(r"\1", item) for item in ITEM.findall(text))
    return dict(item.partition("=")[::2] for item in items)


class pbs_env(Keyed):
    """Variables of a job by name, as in job.Variable_List["HOME"]."""
    __slots__ = ()
    _escaped = str.maketrans({c: "\\" + c for c in ",\\\"'"})

    def __init__(self, of, row, texts):
        Keyed.__init__(self, of, row, variables(texts) if isinstance(texts, str) else texts)

    def __setitem__(self, name, value):
        self._settable(name)
        if not isinstance(name, str) or not name or "=" in name or "\0" in name:
            raise BadAttributeValueError("'%s' is no name of a variable" % (name,))
        if name.startswith("PBS_") or name == "TMPDIR":
            raise BadAttributeValueError("env variable '%s' is readonly" % name)
        if value is None:
            self._texts.pop(name, None)
        else:
            self._texts[name] = types.write_text(str(value))
        of = self._of
        of._sink[(of._target, self._name, None)] = self  # the line is made at the end: of all of them, once

    def line(self):
        return ",".join("%s=%s" % (name, value.translate(self._escaped)) for name, value in self._texts.items())
