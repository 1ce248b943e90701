# SPDX-License-Identifier: Apache-2.0
#
# check.py - does everything exist that the pages name? Each rule says what does not.
import html.parser
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import overview
import pages
import quote
import render
import tables

MANUALS = r"\b([a-z][\w.+-]*)\((\d(?:keel|B)?)\)"
# Manual pages of others that are named.
FOREIGN = {"lowdown(1)", "readelf(1)", "gdb(1)", "seccomp(2)", "ld(1)", "pkg-config(1)", "perf(1)"}
# Words in code that are nobody's names.
PLAIN = {"module.tap"}
PROGRAM = re.compile(r"(?:keelson[\w-]*|keelsond|q[a-z]+|pbs[a-z]+|tracejob)$")
PLACES = ("tests/", "sdk/", "scripts/", "modules/", "kernel/", "conf/", "keel/")


def check(top, build):
    book = pages.Book(top)
    overview.add(book)
    known = Known(book, Path(build))
    found = []
    for page in book.pages:
        text = render.resolve(book, page)
        where = str(page.source.relative_to(book.top)) if page.source else page.man
        found += [f"{where}: {line}" for line in names(known, page, text)]
        found += [f"{where}: {line}" for line in manuals(known, text)]
        if page.source:
            found += [f"{where}: {line}" for line in links(book, page)]
            found += [f"{where}: {line}" for line in typed_code(page)]
    for path in written(book):
        found += [f"{path.relative_to(book.top)}: {line}" for line in manuals(known, unroffed(path.read_text()))]
        found += [f"{path.relative_to(book.top)}: {line}" for line in typed_example(book.top, path.read_text())]
    found += web_page(render.html_page(book, "check"))
    found += lint(book, Path(build))
    return book.complaints + found


def written(book):
    """Manual pages that are no chapters; those in made/ have entries from modules in their places of .\\" lines."""
    return sorted([*(book.top / "sdk" / "man").glob("*.[1-8]"), *(book.top / "sdk" / "man" / "made").glob("*.[1-8]*")])


# ---- what exists -----------------------------------------------------------------------------------------

class Known:
    """Every name there is: of the headers, tables, modules, configuration, programs, manual pages."""

    def __init__(self, book, build):
        self.book, self.build = book, build
        self.calls = {}
        for g in book.groups:
            if g.called:
                self.calls.setdefault(g.called, set()).update(f.name for f in g.functions())
        self.words = set()
        for path in book.include.rglob("*.*"):
            if path.suffix in (".h", ".def"):
                self.words |= set(re.findall(r"\w+", tables.uncommented(path.read_text())))
        for name, p in book.points.items():
            self.words |= {name, f"KEEL_POINT_{name}", f"keel_ev_{name}", f"keel_{name}_fn", f"KEEL_FIELDS_{name}"}
        self.sources = self.source_words()
        self.keys = self.conf_keys()
        self.verbs = {v for p in ("modules/*/*.c", "tests/fixtures/*.c") for f in book.top.glob(p)
                      for v in re.findall(r'"keelson\.(\w+)"', f.read_text())}
        self.manuals = {f"{p.man}({p.section})" for p in book.pages} | FOREIGN | book.absent
        self.manuals |= {re.sub(r"^(.*)\.(\w+)$", r"\1(\2)", p.name) for p in written(book)}
        self.help = {}

    def source_words(self):
        """Words of sources that users meet: attributes, keys, requests, names of fixtures and modules."""
        out = set()
        for folder in ("modules", "kernel", "tests/fixtures", "sdk/template", "sdk/commands", "sdk/client", "sdk/wire",
                       "sdk/tools", "sdk/mock", "tests/sim", "sdk/autotools", "sdk/cmake"):
            for path in (self.book.top / folder).rglob("*"):
                if path.suffix in (".c", ".h", ".def", ".conf", ".m4", ".in") and not path.name.startswith("test_"):
                    out |= set(re.findall(r"[\w-]+", tables.uncommented(path.read_text(errors="replace"))))
                    out |= {path.stem, path.name, path.parent.name}
                elif path.suffix == ".py" and not path.name.startswith("test_"):  # what scripts of hooks see
                    out |= set(re.findall(r"\w+", path.read_text()))
        return out

    def conf_keys(self):
        """Keys of the kernel's configuration and of every module, as their rows say."""
        keys = set()
        for pattern in ("kernel/*/*.c", "modules/*/*.c", "tests/fixtures/*.c", "sdk/template/*.c"):
            for path in self.book.top.glob(pattern):
                text = path.read_text()
                keys |= set(re.findall(r"\b\w+_RULE\(\w+, (?:struct \w+, )?(\w+)", text))
                keys |= set(re.findall(r'\.key = "(\w+)"', text))
        return keys

    def is_key(self, dotted):
        """group.key: the kernel's groups are named in kernel/main, a module's is its own name."""
        group, key = dotted.split(".")
        if group in ("keelson", "pbs"):  # a request: keelson.hooks; what scripts see: pbs.size
            return key in self.sources
        return key in self.keys and group in self.sources

    def says(self, program):
        """What a program prints when it is asked how it is used, and its manual page."""
        if program not in self.help:
            path = next((p for p in (self.build / "bin" / program, self.build / program,
                                     self.build / "libexec" / "keelson" / program) if p.exists()), None)
            if path is None:
                self.help[program] = None
            else:
                done = [subprocess.run([path, *args], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=20)
                        for args in ([], ["--help"])]
                manual = [unroffed(m.read_text()) for m in (self.book.top / "sdk" / "man").glob(f"{program}.[18]")]
                self.help[program] = "".join([d.stdout + d.stderr for d in done] + manual)
        return self.help[program]


# ---- names -----------------------------------------------------------------------------------------------

def spans(text):
    """Code in sentences, and the text without it; console blocks are typed by a test, drawings are drawings."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    return re.findall(r"`([^`\n]+)`", text)


def names(known, page, text):
    """What a page names and nobody has."""
    for word in sorted(set(re.findall(r"\b(?:keel|KEEL)_\w+\b", text))):
        if re.fullmatch(r"KEEL_ROWS_SINCE_\d+|KEEL_USE_[a-z]+", word):
            continue  # there is one per minor, per service
        if word not in known.words and word not in known.sources and not any(
                w.startswith(word) for w in known.words if word.endswith("_")):
            yield f"there is no {word}"
    for group, name in sorted(set(re.findall(r"\b(\w+)->(\w+)\b", text))):
        if group in known.calls and name not in known.calls[group] and name not in known.words:
            yield f"the group {group} has no {name}()"
        elif group not in known.calls and name not in known.words and name not in known.sources:
            yield f"nothing has a member {name} ({group}->{name})"
    for span in sorted(set(spans(text))):
        yield from named(known, span)


def named(known, span):
    """One piece of code in a sentence: a command, a file, a key or a name."""
    first, *rest = span.split()
    if PROGRAM.match(first) and first not in known.book.points and (rest or known.says(first) is not None):
        yield from command(known, first, rest)
    elif first.startswith(PLACES) and "." in first or first.startswith("scripts/"):
        if not exists(known, first):
            yield f"there is no file {first}"
    elif rest:
        return
    elif re.fullmatch(r"[a-z]+\.[a-z_]+", span) and not (known.book.include / "keel" / span).exists():
        if span not in PLAIN and not known.is_key(span) and not known_file(known, span):
            yield f"there is no key {span}"
    elif re.fullmatch(r"\w+\(\)", span):
        if span[:-2] not in known.words and span[:-2] not in known.sources and not any(
                span[:-2] in c for c in known.calls.values()):
            yield f"there is no function {span}"
    elif re.fullmatch(r"[A-Za-z]+(?:_\w+)+", span) and not re.fullmatch(r"KEEL_USE_[a-z]+", span) and span not in known.words | known.sources | known.keys | PLAIN:
        yield f"there is no {span}"


def command(known, program, rest):
    if program == "keelson" and rest and has_manual(known, f"keelson-{rest[0]}"):  # `keelson hook` is keelson-hook
        program, rest = f"keelson-{rest[0]}", rest[1:]
    said = known.says(program)
    if said is None and has_manual(known, program):
        return  # of a module that is not in this build
    if said is None:
        yield f"there is no program {program}"
        return
    if program in ("keelson", "keelson-module") and rest and rest[0].islower():
        verbs = set(re.findall(r"[a-z][a-z_-]*", said)) | known.verbs
        if rest[0] not in verbs:
            yield f"{program} has no verb {rest[0]}"
    for option in rest:
        if option.startswith("--") and option.split("=")[0] not in said:
            yield f"{program} has no option {option}"


def has_manual(known, program):
    return bool({f"{program}({section})" for section in "18"} & known.manuals)


def exists(known, path):
    places = [known.book.top / path, known.book.include / path]
    return any(p.exists() for p in places) or any(known.book.top.glob(path)) if "*" in path else any(
        p.exists() for p in places)


def known_file(known, name):
    return any(name == Path(w).name for w in known.sources) or any(known.book.top.glob(f"*/{name}")) or any(
        known.book.top.glob(f"*/*/{name}")) or name in known.sources


# ---- links, manual pages, typed code ---------------------------------------------------------------------

def links(book, page):
    for href in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"^```.*?^```", "", page.body, flags=re.S | re.M)):
        file = page.source.parent / href.split("#")[0]
        if re.match(r"[a-z]+:", href) or href.startswith("#"):
            if not href.startswith("#"):
                yield f"{href}: the page has to stand alone"
        elif not file.exists():
            yield f"the link {href} leads nowhere"


def manuals(known, text):
    text = re.sub(r"^```python.*?^```", "", text, flags=re.S | re.M)
    for name, section in sorted(set(re.findall(MANUALS, re.sub(r"\*\*", "", text)))):
        if f"{name}({section})" not in known.manuals and len(name) > 2 and re.search(
                r"keelson|pbs|^q[a-z]+$|_", name):
            yield f"there is no manual page {name}({section})"


def unroffed(text):
    text = re.sub(r"\\f.|\\-", lambda m: "-" if m[0] == "\\-" else "", text)
    return re.sub(r"^\.[BI]R (\S+) \((\w+)\)", r"\1(\2)", text, flags=re.M)


def typed_code(page):
    """A page shows code that is built: by a directive, not typed."""
    if re.search(r"^```c$", page.body, flags=re.M):
        yield "C code is typed here; take it from a fixture: <!-- code FILE NAME -->"


def typed_example(top, text):
    """The same of a manual page that is no chapter. It stands there as it is read, so it is compared."""
    for source, block in re.findall(r'^(?:\.\\" code ([^\n]*)\n)?\.nf\n(.*?)^\.fi$', text, flags=re.S | re.M):
        file, *names = source.split() or [None]
        if file is None:
            if re.search(r"^\{$", block, flags=re.M):
                yield 'C code is typed here; say above .nf where it is built: .\\" code FILE NAME'
            continue
        built = (top / file).read_text() if (top / file).exists() else ""
        if block.replace("\\e", "\\") != "\n\n".join(quote.definition(built, n) or "?" for n in names) + "\n":
            yield f"{file} has another {' '.join(names)} than stands here"


# ---- the results -----------------------------------------------------------------------------------------

class Tags(html.parser.HTMLParser):
    VOID = {"meta", "br", "hr", "img", "link", "input"}

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.targets, self.wrong = [], set(), [], []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag not in self.VOID:
            self.open.append(tag)
        if "id" in attrs:
            if attrs["id"] in self.ids:
                self.wrong.append(f"two elements are called #{attrs['id']}")
            self.ids.add(attrs["id"])
        if tag == "a" and attrs.get("href", "").startswith("#"):
            self.targets.append(attrs["href"][1:])
        for name in ("src", "href"):
            if re.match(r"[a-z]+:|//", attrs.get(name) or ""):
                self.wrong.append(f"it needs {attrs[name]}")

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> closes nothing, line {self.getpos()[0]}")


def web_page(text):
    tags = Tags()
    tags.feed(text)
    wrong = tags.wrong + [f"<{t}> is not closed" for t in tags.open]
    wrong += [f"#{t} leads nowhere" for t in sorted(set(tags.targets) - tags.ids)]
    return ["keelson-sdk.html: " + w for w in wrong]


def lint(book, build):
    """mandoc's opinion of every manual page, made ones and written ones; without mandoc there is none."""
    if not shutil.which("mandoc"):
        return []
    with tempfile.TemporaryDirectory() as folder:
        for p in book.pages:
            (Path(folder) / f"{p.man}.{p.section}").write_text(render.man_page(book, p))
        typed = [p for p in (book.top / "sdk" / "man").glob("*.[1-8]") if "\n.so " not in p.read_text()]
        files = sorted([*Path(folder).iterdir(), *typed, *(build / "pages").glob("*.[1-8]*")])
        said = subprocess.run(["mandoc", "-Tlint", "-Wwarning", *files], text=True, capture_output=True).stdout
    # A date would make each build another file.
    return [re.sub(r"^mandoc: .*/", "", line) for line in said.split("\n") if line and "missing date" not in line]
