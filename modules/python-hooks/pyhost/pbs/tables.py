# SPDX-License-Identifier: Apache-2.0
#
# tables.py - the daemon's tables become classes and rows: no attribute has a line of Python.
from . import objects, run, texts, types
from .keyed import READONLY, pbs_env, pbs_resource, resource_or_none

ALWAYS = ("resources_used", "resources_assigned")  # lists that are there before anything is in them


def fill(tables):
    """Once, before the first run."""
    run.resources.clear()
    for name, row in tables["resources"].items():
        run.resources[name.lower()] = types.Row(name, *row, named=types.RESOURCES)
    for klass, attributes in tables["attrs"].items():
        made = run.rows[klass] = {name: objects.Attribute(name, *row) for name, row in attributes.items()}
        for row in made.values():
            row.make = maker(row)
        if klass in objects.CLASSES:
            objects.CLASSES[klass]._members(made)
    texts.owners.update(owners())


def maker(row):
    if row.type == "resource_list":
        return resource_or_none if row.flags & READONLY and row.name not in ALWAYS else pbs_resource
    if row.name == "Variable_List":
        return pbs_env
    return objects.refer if row.name in objects.REFERS else None


def owners():
    """Which attribute judges the text of a type: the first that there is."""
    classes = ("job", "resv", "server", "queue", "node")
    places = [("job", "Resource_List", key) for key in ("select", "place", "software") if key in run.resources]
    places += [(klass, name, None) for klass in classes for name in run.rows.get(klass, ())]
    made = {}
    for where in places:
        kind = types.NAMED.get(where[2] or where[1])
        if kind and kind.asks and issubclass(kind.type, texts.checked):
            made.setdefault(kind.type, where)
    return made
