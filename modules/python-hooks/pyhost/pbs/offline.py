# SPDX-License-Identifier: Apache-2.0
#
# offline.py - an event that a person wrote down, for `keelson hook run --tables`: what it leaves out.
CLASSES = {"job": "job", "job_o": "job", "resv": "resv", "resv_o": "resv", "vnode": "node", "vnode_o": "node",
           "src_queue": "queue"}
LISTS = {"vnode_list": "node", "vnode_list_fail": "node", "job_list": "job", "resv_list": "resv"}
HOOK = {"name": "hook", "type": "site", "enabled": 1, "user": "pbsadmin", "alarm": 30, "order": 1, "freq": 120, "debug": 0,
        "fail_action": "none"}


def of_class(found, klass, id):
    """An object: it may say no more than its attributes."""
    of = {"class": klass, "id": id, "attrs": {}, "facts": {}}
    of.update(found if "attrs" in found else {"attrs": found})
    return of


def param(name, found):
    if name in CLASSES and isinstance(found, dict):
        return of_class(found, CLASSES[name], "")
    if name in LISTS:
        return {key: of_class(one, LISTS[name], key) for key, one in found.items() if one is not None}
    return found


def completed(record, tables):
    """A record as a hook with debug = true leaves it; of `tables` what it has not."""
    if not isinstance(record, dict):
        raise ValueError("an event is a map")
    event = record.setdefault("event", {})
    if not isinstance(event, dict):  # {"event": "queuejob", "params": {...}}
        record = {"event": record, "answers": record.get("answers", [])}
        event = record["event"]
    setup = record.setdefault("setup", tables["setup"])
    known = setup["tables"]["events"].get(event.get("event"))
    if known is None:
        raise ValueError("there is no event '%s'" % event.get("event"))
    event.setdefault("type", known[1])
    event["hook"] = dict(HOOK, event=event["event"], **event.get("hook", {}))
    event.setdefault("requestor", "user")
    event.setdefault("requestor_host", setup["host"])
    event["params"] = {name: param(name, found) for name, found in event.get("params", {}).items()}
    return record
