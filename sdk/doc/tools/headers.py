# SPDX-License-Identifier: Apache-2.0
#
# headers.py - the SDK's headers as groups: what a comment says, and what it stands above.
import re
from pathlib import Path

import quote


class Function:
    """One function of a group: member of a table, and as modules call it (`keel_log`)."""

    def __init__(self, name, called, prototype, comment, since):
        self.name, self.called, self.prototype, self.comment, self.since = name, called, prototype, comment, since


class Group:
    """What one page shows: a title, sentences, and items in order: ("text", ...), ("code", ...),
    ("functions", [Function])."""

    def __init__(self, name, header, sentence, intro):
        self.name, self.header, self.sentence, self.intro = name, header, sentence, intro
        self.items = []
        self.called = None  # the word before `->`

    def functions(self):
        return [f for kind, item in self.items if kind == "functions" for f in item]


def words(comment):
    """A comment as plain sentences: an indented part, a blank line or a list begins a new line."""
    inner = re.sub(r"^/\*+|\*/$", "", comment.strip(), flags=re.S).strip()
    return "\n".join(re.sub(r"^\s*\* ?", "", line).rstrip() for line in inner.split("\n")).strip()


def chunks(text):
    """Top-level pieces: (kind, text) with kind section, comment, code or macro."""
    i, n = 0, len(text)
    while i < n:
        if text[i] in " \t\n":
            i += 1
            continue
        if text.startswith("/*", i):
            end = text.index("*/", i) + 2
            piece = text[i:end]
            m = re.match(r"/\* -{3,} (.*?) -+ \*/", piece, flags=re.S)
            yield ("section", m[1]) if m else ("comment", piece)
            i = end
            continue
        if text[i] == "#":
            m = re.compile(r"(?:[^\n\\]|\\\n|\\.)*").match(text, i)
            yield ("macro", m[0].rstrip())
            i = m.end()
            continue
        end = end_of_code(text, i)
        rest = re.compile(r"[ \t]*/\*(?:[^*]|\*(?!/))*\*/").match(text, end)  # a comment behind it
        end = rest.end() if rest else end
        yield ("code", text[i:end].strip())
        i = end


def end_of_code(text, i):
    """Behind the `;` or the `}` that ends a declaration or a function."""
    depth = 0
    while i < len(text):
        if text.startswith("/*", i):
            i = text.index("*/", i) + 2
            continue
        c = text[i]
        if c in "({[":
            depth += 1
        elif c in ")}]":
            depth -= 1
            if depth == 0 and c == "}" and not re.match(r"\s*(;|__attribute__|\w)", text[i + 1:i + 40]):
                return i + 1
        elif c == ";" and depth == 0:
            return i + 1
        i += 1
        if depth == 0 and text[i - 1] == "}" and re.match(r"\n(?:\n|static|/\*|#|struct|enum)", text[i:i + 8]):
            return i
    return i


def members(code, minors=None):
    """(prototype, name, comment) of each function of a table."""
    body = code[code.index("{") + 1:code.rindex("}")]
    pieces = re.findall(r"/\*.*?\*/|#[^\n]*|\n|[^/#\n]+|/", body, flags=re.S)
    comment, declaration, found, since = [], "", [], 0
    for p in pieces:
        if p.startswith("/*"):
            if declaration.strip():
                declaration += " "
            elif found and found[-1][3]:  # behind the declaration, on its line
                found[-1][2].append(words(p))
            else:
                comment.append(words(p))
        elif p.startswith("#"):
            m = re.search(r"(?:SINCE|TARGET|MINOR)\w*\s*(?:\(|>=)\s*(\d+)", p)
            since = int(m[1]) if m and p.startswith("#if") else 0 if p.startswith("#endif") else since
        elif p == "\n":
            if found:
                found[-1][3] = False
            if declaration.strip():
                declaration += " "
            elif comment and comment[-1] == "":
                comment = []
            elif comment:
                pass
        else:
            declaration += p
            while ";" in declaration:
                one, declaration = declaration.split(";", 1)
                found.append([" ".join(one.split()), "", comment, True, since])
                comment = []
    out = []
    for prototype, _, said, _, minor in found:
        m = re.search(r"\(\*(\w+)\)\s*\(", prototype)
        if m:
            out.append((prototype, m[1], "\n".join(s for s in said if s), minor))
    return out


def called_name(code):
    m = re.match(r"struct keel_(\w+)_api\s*\{", code)
    return m[1] if m else None


def read_group(group, pieces):
    """Fill a group with the pieces that belong to it."""
    for kind, text in pieces:
        if kind == "comment":
            group.items.append(("text", words(text)))
        elif kind == "section":
            group.items.append(("section", text))
        elif kind == "macro":
            if re.match(r"#\s*define \w+_H\b|#\s*(include|undef|if|ifn?def|endif|else|elif)\b", text):
                continue
            group.items.append(("code", text))
        elif called_name(text) and "{" in text:
            group.called = called_name(text)
            functions = []
            for prototype, name, comment, since in members(text):
                called = f"{group.called}->{name}" if group.called == "store" else f"keel_{group.called}_{name}"
                shown = re.sub(r"\(\*%s\)\s*" % name, called, prototype, count=1)
                if "struct keel_mod *self;" in text and group.called != "store":  # its macro passes it
                    shown = re.sub(r"(%s\()struct keel_mod \*(?:self)?(?:, |(?=\)))" % called, r"\1", shown)
                functions.append(Function(name, called, re.sub(r"\s*KEEL_PRINTF\(.*\)$", "", shown), comment, since))
            group.items.append(("functions", functions))
        elif not re.match(r'extern "C"', text):
            group.items.append(("code", text))


def body_of(path):
    """A header without licence, guard and head comment; and that comment."""
    text = Path(path).read_text()
    plain = quote.without_licence(text)
    end = plain.index("*/") + 2
    body = re.sub(r"^#ifdef __cplusplus\n.*?^#endif\n", "", plain[end:], flags=re.S | re.M)
    return quote.head(text), body


def one_line(text):
    return re.split(r"(?<=[.?])\s|\n\n", " ".join(text.split("\n\n")[0].split()))[0].rstrip(".:")


def read_calls(path, table):
    """Functions of a header that calls through a table; `table`: its Functions, for those that are macros."""
    _, body = body_of(path)
    said, found = "", []
    for kind, text in chunks(body):
        name = re.search(r"\b(keel_\w+)\(", text)
        if kind == "comment":
            said = words(text)
            continue
        member = re.search(r"->(\w+)\(", text)
        if name and member and kind in ("code", "macro"):
            row = next((f for f in table if f.name == member[1]), None)
            shown = re.sub(r"\s+", " ", text[:text.index("{")].replace("static inline ", "")).strip() if kind == "code" else \
                row.prototype.replace(row.called, name[1])
            found.append(Function(member[1], name[1], shown, said, row.since if row else 0))
        said = ""
    return found


def read_header(path, name, include):
    """A header as one group."""
    intro, body = body_of(path)
    group = Group(name, str(Path(path).relative_to(include)), one_line(intro), intro)
    read_group(group, [c for c in chunks(body)])
    return group


def read_sections(path, include):
    """A header whose `---- name: sentence ----` lines begin a group each."""
    _, body = body_of(path)
    groups, current = [], []
    for kind, text in chunks(body):
        if kind == "section":
            name, _, sentence = text.partition(":")
            groups.append((Group(name.strip(), str(Path(path).relative_to(include)), sentence.strip(), ""), []))
            current = groups[-1][1]
        else:
            current.append((kind, text))
    for group, pieces in groups:
        read_group(group, pieces)
    return [g for g, _ in groups]
