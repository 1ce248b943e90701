# SPDX-License-Identifier: Apache-2.0
#
# pages.py - which pages there are: chapters of the guide, a page per point, a page per group of functions,
# and what else is in sdk/doc. All of them are Markdown until render.py has them.
import re
from pathlib import Path

import headers
import quote
import tables

# Headers that are a page as a whole: name of the page, file.
HEADERS = [("module", "keel/module.h"), ("hooks", "keel/hooks.h"), ("contrib", "keel/contrib.h"),
           ("types", "keel/types.h"), ("use", "keel/use.h"), ("slow", "keel/slow.h"),
           ("alarm", "keel/alarm.h"), ("load", "keel/load.h"), ("type", "keel/type.h"), ("words", "keel/words.h"), ("strings", "keel/strings.h"), ("rows", "keel/rows.h"),
           ("file", "keel/file.h"),
           ("setting", "keel/setting.h"), ("directive", "keel/directive.h"), ("text", "keel/text.h"), ("acl", "keel/acl.h"),
           ("jobid", "keel/jobid.h"), ("place", "keel/place.h"),
           ("sized", "keel/sized.h"), ("isolable", "keel/isolable.h"), ("mock", "keel/mock.h")]
# Those that are part of another page, or of none: the event fields, what includes all, numbers that are a table.
NO_PAGE = {"hook_fields.h", "keel.h", "api.h", "sched_reason.h", "wire.h"}
# Groups of the kernel: where their functions are.
GROUPS = {"core": "core.h", "object": "object.h", "call": "call.h", "hook": "point.h", "msg": "msg.h",
          "request": "request.h", "link": "link.h", "blob": "blob.h", "inspect": "inspect.h", "renew": "renew.h", "remote": "remote.h"}
NO_PAGE |= set(GROUPS.values())
# Tables of numbers: page, file, sentence, what the text is.
NUMBERS = [("pbse", "pbse.def", "the numbers that a refusal may have", "what people read when a tap gives no words of its own"),
           ("reasons", "sched_reason.def", "why a job does not start: numbers for taps of the scheduler",
            "what stands in the job's comment; each %s is a word that the caller puts in")]
# What an isolated module may need besides the services it offers itself.
ISOLATED_GROUPS = {"core", "object", "call", "hook", "msg", "request"}

VERDICTS = {
    "KEEL_NEXT": "go on with the chain",
    "KEEL_DONE": {"GATE": "accepted, no tap behind it is called", "ASK": "here is the answer (`keel_answer()`); no tap behind it is called"},
    "KEEL_REJECT": "refused (`keel_reject()`), no tap behind it is called",
    "KEEL_WAIT": "holds were taken (`keel_hold()`); their `resume` says the rest",
    "KEEL_FAIL": "the tap broke (`keel_fail()`)",
}


class Page:
    """A page: `name` is its anchor in the HTML page, `man` and `section` the manual page."""

    def __init__(self, name, man, section, sentence, body, part, source):
        self.name, self.man, self.section = name, man, section
        self.sentence, self.body, self.part, self.source = sentence, body, part, source
        self.title = man
        self.also = []  # (manual page, section)


class Book:
    """Everything that is shown, and the facts that are checked against it."""

    def __init__(self, top):
        self.top = Path(top)
        self.include = self.top / "sdk" / "include"
        self.complaints = []
        self.point_groups, self.points = tables.read_points(self.include)
        self.complaints += tables.read_docs(self.include, self.points)
        self.groups = self.read_groups()
        self.pages, self.absent = [], set()
        self.chapters()
        self.point_pages()
        self.group_pages()
        self.number_pages()
        self.others()
        self.by_source = {p.source: p for p in self.pages if p.source}

    # ---- the parts ---------------------------------------------------------------------------------

    def read_groups(self):
        found = headers.read_sections(self.include / "keel" / "api.h", self.include)
        for group in found:
            group.kernel = group.name != "store"
            if group.name in GROUPS:
                path = self.include / "keel" / GROUPS[group.name]
                calls = headers.read_calls(path, group.functions())
                missing = {f.name for f in group.functions()} - {f.name for f in calls}
                self.complaints += [f"keel/{path.name}: no function calls {m}() of the table" for m in sorted(missing)]
                group.items = [i for i in group.items if i[0] != "functions"] + [("functions", calls)]
                group.header = "keel/" + path.name
        for path in sorted((self.include / "keel" / "service").glob("*.h")):
            group = headers.read_header(path, path.stem, self.include)
            group.kernel = False
            found.append(group)
        for name, file in HEADERS:
            if (self.include / file).exists():
                group = headers.read_header(self.include / file, name, self.include)
                group.kernel = None
                found.append(group)
        for group in found:
            for f in group.functions():
                if not f.comment:
                    self.complaints.append(f"{group.header}: {f.called}() has no comment")
        return found

    def chapters(self):
        for part in ("guide", "admin"):
            for path in sorted((self.top / "sdk" / "doc" / part).glob("[0-9]*.md")):
                slug = re.sub(r"^\d+-", "", path.stem)
                self.pages.append(self.page_of(path, f"{part}-{slug}", f"keelson-{part}-{slug}", "7", part))

    def others(self):
        for path in sorted((self.top / "sdk" / "doc").glob("*.md")):
            needs = re.match(r"<!-- needs (\S+) -->", path.read_text())
            if needs and not (self.top / needs[1]).exists():  # about a feature that is not in this tree
                self.absent.add(f"keelson-sdk-{path.stem}(7)")
            elif path.name != "README.md":
                self.pages.append(self.page_of(path, f"doc-{path.stem}", f"keelson-sdk-{path.stem}", "7", "doc"))

    def page_of(self, path, name, man, section, part):
        """A file: its first heading is the title, its first paragraph what the page is about."""
        text = re.sub(r"\A<!--.*?-->\s*", "", path.read_text(), flags=re.S)
        m = re.match(r"# ([^\n]+)\n+((?:[^\n]+\n)+)", text)
        if not m:
            self.complaints.append(f"{path}: it does not begin with a heading and a paragraph")
            m = re.match(r"(.*)(.*)", text)
        page = Page(name, man, section, headers.one_line(plain(m[2])), text[text.index("\n") + 1:], part, path)
        page.title = m[1]
        return page

    def point_pages(self):
        for group, points in self.point_groups:
            for p in points:
                page = Page(p.name, p.name, "3keel", p.sentence, self.point_body(p), "points " + group, None)
                page.also = [("keelson-hooks", "7"), ("keelson-api-call", "3keel")]
                self.pages.append(page)

    def group_pages(self):
        for g in self.groups:
            part = {True: "kernel", False: "services", None: "headers"}[g.kernel]
            sentence = g.sentence if g.kernel is not None and g.called else g.sentence
            page = Page("api-" + g.name, "keelson-api-" + g.name, "3keel", sentence, group_body(g), part, None)
            page.title = g.name if g.kernel is not None else "keel/" + Path(g.header).name
            self.pages.append(page)

    def number_pages(self):
        paged = {Path(file).name for _, file in HEADERS} | NO_PAGE
        for path in sorted((self.include / "keel").glob("*.h")):
            if path.name not in paged:
                self.complaints.append(f"keel/{path.name} has no page: name it in sdk/doc/tools/pages.py")
        for name, file, sentence, meaning in NUMBERS:
            rows = re.findall(r'^\w+\((\d+), (\w+), (?:"((?:[^"\\]|\\.)*)"|NULL)', (self.include / "keel" / file).read_text(),
                              flags=re.M)
            body = [f"From `keel/{file}`: number, name, and {meaning}.", ""]
            body += [f"- **{number}** {escaped(word)}" + (f": {escaped(text.rstrip())}" if text else "") for number, word, text in rows]
            page = Page("api-" + name, "keelson-api-" + name, "3keel", sentence, "\n".join(body), "headers", None)
            page.title = "keel/" + file
            self.pages.append(page)

    # ---- one point ---------------------------------------------------------------------------------

    def fixture(self, point):
        path = self.top / "tests" / "fixtures" / f"{point}.c"
        return path if path.exists() else None

    def point_body(self, p):
        question, verdicts, policy = tables.KINDS[p.kind]
        if not p.waits:
            verdicts = verdicts.replace(" KEEL_WAIT", "")
        out = [ended(capital(p.sentence)), "",
               f"- **Kind**: {p.kind}: {question}", f"- **Raised by**: {raiser(p)}, in {p.where}",
               f"- **When**: {p.when}", f"- **A tap that fails**: {policy}, unless its row says otherwise",
               f"- **A tap may**: {powers(p)}", f"- **In the interface since**: 1.{p.since}", ""]
        if p.notes:
            out += [p.notes, ""]
        out += ["## Event", "", f"`struct keel_ev_{p.name}`, valid until the tap returns:", ""]
        if p.fields:
            out += [f"- **{f}** ({tables.TYPES[t]}{since(p, f)}): {ended(meaning)}" for t, f, meaning in p.fields]
        else:
            out[-2] = f"`struct keel_ev_{p.name}` has no fields."
        out += ["", "## Answers", ""]
        for v in verdicts.split():
            said = VERDICTS[v]
            out.append(f"- `{v}`: {said if isinstance(said, str) else said[p.kind]}.")
        out.append("")
        fixture = self.fixture(p.name)
        if fixture:
            text = fixture.read_text()
            pieces = [quote.definition(text, f"on_{p.name}") or quote.definition(text, f"at_{p.name}"),
                      quote.definition(text, "taps")]
            if not pieces[0]:  # one line over point.h: all of it, and what the line stands for
                pieces = [quote.without_licence(text).strip(), quote.macro(fixture.with_name("point.h").read_text(), "FIXTURE")]
            out += ["## Example", "", f"From `examples/{p.name}.c` of the documentation's folder, a whole module:", "", "```c",
                    "\n\n".join(x for x in pieces if x), "```", ""]
        return "\n".join(out)


# ---- texts -----------------------------------------------------------------------------------------------

def capital(text):
    return text[:1].upper() + text[1:]


def ended(text):
    """A sentence with its full stop."""
    return text if text.endswith(("?", ".")) else text + "."


def plain(text):
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("`", "").replace("*", "")


def raiser(p):
    return "the kernel" if p.raiser == "kernel" else "the module " + p.raiser.replace(", ", " and ")


def since(p, field):
    return f", since 1.{p.newer[field]}" if field in p.newer else ""


def powers(p):
    """What a tap of this point may do, in words."""
    can = (["wait"] if p.waits else []) + (["change objects"] if p.kind == "GATE" else [])
    can += ["run in a process of its own"] if p.isolatable else []
    words = {"wait": "wait (`keel_hold()`)", "change objects": "change objects (`keel_call_set()`)"}
    return ", ".join(words.get(w, w) for w in can) or "only look, and run in the daemon"


def group_body(g):
    out = []
    if g.intro:
        out += [capital(sentences(re.sub(r"^service \"\w+\"[^:.]*[:.] ?", "", g.intro))), ""]
    if g.called:
        out += [f"Declared in `{g.header}`. "
                + ("Every module has it. " if g.name in ISOLATED_GROUPS else f"A module says `KEEL_USE({g.called})`. ")
                + ("Isolated modules have it, too." if g.name in ISOLATED_GROUPS else
                   "Isolated modules cannot have it."), ""]
        if g.name == "store":
            out[-2] = f"Declared in `{g.header}`. One module offers it; the kernel is the one who calls."
    else:
        out += [f"`#include \"{g.header}\"`", ""]
    for kind, item in prototypes_first(g.items):
        if kind == "text":
            out += [sentences(item), ""]
        elif kind == "section":
            out += [f"## {capital(item)}", ""]
        elif kind == "code":
            out += ["```c", item, "```", ""]
        else:
            for f in item:
                since = f" (since 1.{f.since})" if f.since else ""
                out += [f"## {f.called}(){since}", "", "```c", wrapped(f.prototype + ";"), "```", "",
                        sentences(f.comment), ""]
    return "\n".join(out)


def prototypes_first(items):
    """In a header a comment stands above its function; on a page people look for the function."""
    items = list(items)
    for i in range(1, len(items)):
        kind, item = items[i]
        if kind == "code" and items[i - 1][0] == "text" and re.match(r"[^{=]*\)\s*;", item):
            items[i - 1], items[i] = items[i], items[i - 1]
    return items


def sentences(text):
    """A comment as Markdown: `<` and `*` are no markup, an indented block is code."""
    out, code = [], False
    for line in text.split("\n"):
        deep = re.match(r"( {2,}|\t)\S", line)
        if deep and not code:
            out += ["", "```"]
        elif not deep and code:
            out += ["```", ""]
        code = bool(deep)
        out.append(line if code else escaped(line))
    return "\n".join(out + (["```"] if code else []))


def escaped(line):
    parts = line.split("`")
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"([*_<>\[\]])", r"\\\1", parts[i])
    return "`".join(parts)


def wrapped(prototype):
    """A prototype in lines of at most 76 columns."""
    lines, line = [], ""
    for word in re.findall(r"[^ ]+ ?", prototype):
        if len(line) + len(word.rstrip()) > 76:
            lines.append(line.rstrip())
            line = "        "
        line += word
    return "\n".join(lines + [line.rstrip()])
