# SPDX-License-Identifier: Apache-2.0
#
# tables.py - hook_points.def, hook_fields.h and hook_docs.def as data.
import re
from pathlib import Path

TEXT = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'

KINDS = {
    "GATE": ("may this happen?", "KEEL_NEXT KEEL_DONE KEEL_REJECT KEEL_WAIT KEEL_FAIL",
             "what it asks about is refused (KEEL_ON_FAIL_REJECT)"),
    "ASK": ("who provides the answer? the first KEEL_DONE wins", "KEEL_NEXT KEEL_DONE KEEL_WAIT KEEL_FAIL",
            "it is passed over (KEEL_ON_FAIL_SKIP)"),
    "FOLD": ("everyone adds, all run", "KEEL_NEXT KEEL_FAIL", "it is passed over (KEEL_ON_FAIL_SKIP)"),
    "NOTE": ("it happened, all are told", "KEEL_NEXT KEEL_FAIL", "it is passed over (KEEL_ON_FAIL_SKIP)"),
}
TYPES = {"STR": "text", "INT": "integer", "OBJ": "object"}


class Point:
    def __init__(self, number, name, kind, daemon, sentence):
        self.number, self.name, self.kind, self.sentence = int(number), name, kind, sentence
        self.daemons = [d.strip().removeprefix("KEEL_") for d in daemon.split("|")]
        self.fields = []  # (type, name, meaning)
        self.raiser = self.when = self.notes = ""
        self.since = 0
        self.newer = {}  # field: the minor it came with

    @property
    def isolatable(self):
        return self.kind != "FOLD" and "INLINE" not in self.daemons

    @property
    def waits(self):
        """The inner loops of the scheduler stand still for nobody."""
        return self.kind in ("GATE", "ASK") and "INLINE" not in self.daemons

    @property
    def where(self):
        words = {"SERVER": "the server", "MOM": "execution hosts", "ANY": "the server and execution hosts"}
        return next(words[d] for d in self.daemons if d in words)


def joined(text):
    """A C string, or several side by side, as one."""
    parts = re.findall(r'"((?:[^"\\]|\\.)*)"', text)
    return re.sub(r"\\(.)", r"\1", "".join(parts))


def uncommented(text):
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def since_of(text):
    """The minor at each line: rows between #if KEEL_SDK_SINCE(n) and #endif came with minor n."""
    minor, stack, out = 0, [], []
    for line in text.split("\n"):
        begin = re.match(r"\s*#\s*if\b(?:.*?\b(?:SINCE|TARGET|MINOR)\w*\s*(?:\(|>=)\s*(\d+))?", line)
        if begin:
            stack.append(minor)
            minor = int(begin[1]) if begin[1] else minor
        elif re.match(r"\s*#\s*endif", line) and stack:
            minor = stack.pop()
        out.append(minor)
    return out


def read_points(include):
    """Every point, with its fields and what is said about them; in the order of the table."""
    keel = Path(include) / "keel"
    raw = (keel / "hook_points.def").read_text()
    minors = since_of(raw)
    points, groups, group = {}, [], None
    for m in re.finditer(r"/\* -{3,} (.*?) -+ \*/|^HOOK\((\d+), (\w+), (\w+), ([^,]+), " + TEXT + r"\)",
                         raw, flags=re.M):
        if m[1]:
            group = (m[1], [])
            groups.append(group)
            continue
        p = Point(m[2], m[3], m[4], m[5], joined(m[6]))
        p.since = minors[raw.count("\n", 0, m.start())]
        points[p.name] = p
        group[1].append(p)
    for m in re.finditer(r"#define KEEL_FIELDS_(\w+)\(F\)((?:[^\n\\]|\\\n)*)",
                         uncommented((keel / "hook_fields.h").read_text())):
        if m[1] in points:
            points[m[1]].fields = [(t, f, "") for t, f in re.findall(r"F\((\w+), (\w+)\)", m[2])]
            for minor, rows in re.findall(r"KEEL_ROWS_SINCE_(\d+)\(((?:[^()]|\([^()]*\))*)\)", m[2]):
                points[m[1]].newer.update({f: int(minor) for f in re.findall(r"F\(\w+, (\w+)\)", rows)})
    return groups, points


def read_docs(include, points):
    """Put the sentences of hook_docs.def to their points; what does not fit is returned as complaints."""
    text = uncommented((Path(include) / "keel" / "hook_docs.def").read_text())
    complaints, meaning = [], {}
    for name, raiser, when, notes in re.findall(
            r"HOOK_DOC\((\w+),\s*" + TEXT + r",\s*" + TEXT + r",\s*" + TEXT + r"\)", text):
        if name not in points:
            complaints.append(f"hook_docs.def: there is no point {name}")
            continue
        p = points[name]
        p.raiser, p.when, p.notes = joined(raiser), joined(when), joined(notes)
    for name, field, words in re.findall(r"HOOK_FIELD\((\w+), (\w+),\s*" + TEXT + r"\)", text):
        meaning[name, field] = joined(words)
    fields = {(p.name, f) for p in points.values() for _, f, _ in p.fields}
    for name, field in meaning:
        if name != "any" and (name, field) not in fields:
            complaints.append(f"hook_docs.def: the event of {name} has no field {field}")
    for p in points.values():
        if not p.when:
            complaints.append(f"hook_docs.def: nothing is said about {p.name}")
        p.fields = [(t, f, meaning.get((p.name, f), meaning.get(("any", f), ""))) for t, f, _ in p.fields]
        complaints += [f"hook_docs.def: nothing is said about {f} of {p.name}" for _, f, m in p.fields if not m]
    return complaints
