# SPDX-License-Identifier: Apache-2.0
#
# constants.py - the numbers that scripts have by name: pbs.LOG_ERROR, pbs.ND_OFFLINE, pbs.QUEUEJOB.

SYSLOG = 0x10000  # a level is no class of events
CONSTANTS = {
    "LOG_ERROR": SYSLOG | 3, "LOG_WARNING": SYSLOG | 4, "LOG_DEBUG": SYSLOG | 7,
    "QTYPE_EXECUTION": 1, "QTYPE_ROUTE": 2, "ND_PBS": 0,
}
EVENT_CLASSES = {
    "ERROR": 0x1, "SYSTEM": 0x2, "ADMIN": 0x4, "JOB": 0x8, "JOB_USAGE": 0x10, "SECURITY": 0x20, "SCHED": 0x40,
    "DEBUG": 0x80, "DEBUG2": 0x100, "RESV": 0x200, "DEBUG3": 0x400, "DEBUG4": 0x800, "FORCE": 0x8000,
}
# groups whose values count from `first`
COUNTED = (
    ("JOB_STATE_", 0, "TRANSIT QUEUED HELD WAITING RUNNING EXITING EXPIRED BEGUN MOVED FINISHED"
     " SUSPEND SUSPEND_USERACTIVE"),
    ("RESV_STATE_", 0, "NONE UNCONFIRMED CONFIRMED WAIT TIME_TO_RUN RUNNING FINISHED BEING_DELETED DELETED"
     " DELETING_JOBS DEGRADED BEING_ALTERED IN_CONFLICT"),
    ("SV_STATE_", 2, "HOT IDLE ACTIVE SHUTDEL SHUTIMM SHUTSIG"),
    ("MGR_CMD_", -1, "NONE CREATE DELETE SET UNSET LIST PRINT ACTIVE IMPORT EXPORT"),
    ("MGR_OBJ_", -1, "NONE SERVER QUEUE JOB NODE RESV RSC SCHED HOST HOOK PBS_HOOK"),
    ("BATCH_OP_", 0, "SET UNSET INCR DECR EQ NE GE GT LE LT DFLT"),
    ("ND_", 0, "DEFAULT_SHARED DEFAULT_EXCL IGNORE_EXCL FORCE_EXCL DEFAULT_EXCLHOST FORCE_EXCLHOST"),
)
SUBSTATES = {
    "TRANSIN": 0, "TRANSICM": 1, "TRNOUT": 2, "TRNOUTCM": 3, "QUEUED": 10, "PRESTAGEIN": 11, "SYNCRES": 13,
    "STAGEIN": 14, "STAGEGO": 15, "STAGECMP": 16, "HELD": 20, "SYNCHOLD": 21, "DEPNHOLD": 22, "WAITING": 30,
    "STAGEFAIL": 37, "PRERUN": 41, "RUNNING": 42, "SUSPEND": 43, "SCHSUSP": 45, "EXITING": 50, "STAGEOUT": 51,
    "STAGEDEL": 52, "EXITED": 53, "ABORT": 54, "KILLSIS": 56, "RUNEPILOG": 57, "OBIT": 58, "TERM": 59, "RERUN": 60,
    "RERUN1": 61, "RERUN2": 62, "RERUN3": 63, "EXPIRED": 69, "BEGUN": 70, "PROVISION": 71, "WAITING_JOIN_JOB": 72,
    "TERMINATED": 91, "FINISHED": 92, "FAILED": 93, "MOVED": 94, "DELJOB": 153,
}
# states of a vnode: the word in its attribute, its bit where the daemon does not say another, names
NODE_STATES = (
    ("free", 0, "FREE"), ("offline", 0x1, "OFFLINE"), ("down", 0x2, "DOWN"), ("deleted", 0x4, "DELETED"),
    ("unresolvable", 0x8, "UNRESOLVABLE"), ("job-busy", 0x10, "JOBBUSY"), ("Stale", 0x20, "STALE"),
    ("job-exclusive", 0x40, "JOB_EXCLUSIVE"), ("busy", 0x80, "BUSY"), ("state-unknown", 0x100, "UNKNOWN"),
    ("initializing", 0x400, "INIT"), ("provisioning", 0x800, "PROV"), ("wait-provisioning", 0x1000, "WAIT_PROV"),
    ("resv-exclusive", 0x2000, "RESV_EXCLUSIVE"), ("offline_by_mom", 0x4000, "OFFLINE_BY_MOM"),
    ("maintenance", 0x20000, "MAINTENANCE"), ("sleep", 0x40000, "SLEEP"),
)
SETTABLE_STATES = ("offline", "offline_by_mom", "down", "sleep")
UNAVAILABLE = 409903  # the states that keep new jobs away
SHORT_ALSO = ("FREE OFFLINE DOWN STALE JOBBUSY JOB_EXCLUSIVE RESV_EXCLUSIVE BUSY PROV WAIT_PROV UNRESOLVABLE"
              " SLEEP").split()


def group(prefix):
    return next(names for found, _, names in COUNTED if found == prefix).split()


made = {}         # {name: number}
state_bits = {}   # {word: bit} of states of vnodes
state_names = {}  # {bit: "ND_STATE_..."}


def states(of_daemon):
    """Constants of the states of vnodes: ours, and those of words that a module of the daemon adds."""
    known = {word: name for word, _, name in NODE_STATES}
    state_bits.clear()
    state_bits.update({word: bit for word, bit, _ in NODE_STATES})
    state_bits.update({word: bit for word, bit in of_daemon.items() if word != "offline"})
    names = {"ND_STATE_VNODE_UNAVAILABLE": UNAVAILABLE}
    for word, bit in state_bits.items():
        name = known.get(word) or word.upper().replace("-", "_")
        names["ND_STATE_" + name] = bit
        if name in SHORT_ALSO:
            names["ND_" + name] = bit
    state_names.clear()
    state_names.update({bit: name for name, bit in names.items()
                        if name.startswith("ND_STATE_") and bit != UNAVAILABLE})
    return names


def events(of_daemon):
    names, of_moms = {}, 0
    for constant, bit, is_of_moms in of_daemon.values():
        names[constant] = names["HOOK_EVENT_" + constant] = bit
        of_moms |= bit if is_of_moms else 0
    names["MOM_EVENTS"] = of_moms
    return names


def fill(tables):
    """All of them, by name."""
    made.update(CONSTANTS)
    made.update({"EVENT_" + name: bit for name, bit in EVENT_CLASSES.items()})
    for prefix, first, names in COUNTED:
        made.update({prefix + name: first + i for i, name in enumerate(names.split())})
    made.update({"JOB_SUBSTATE_" + name: number for name, number in SUBSTATES.items()})
    made.update(states(tables["node_states"]))
    made.update(events(tables["events"]))
    for name, prefix in (("REVERSE_MGR_CMDS", "MGR_CMD_"), ("REVERSE_MGR_OBJS", "MGR_OBJ_")):
        made[name] = {value: key for key, value in made.items() if key.startswith(prefix)}
    made["REVERSE_NODE_STATE"] = dict(state_names)
