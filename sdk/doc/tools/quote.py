# SPDX-License-Identifier: Apache-2.0
#
# quote.py - pieces of a C file by the names of their definitions, so that no example is typed twice.
import re


def without_licence(text):
    """A file without its SPDX line: the head comment begins with what the file is."""
    text = re.sub(r"\A# SPDX-License-Identifier:[^\n]*\n#\n", "", text)
    return re.sub(r"\A/\* SPDX-License-Identifier:[^\n]*\n \*\n \* ", "/* ", text)


def head(text):
    """The sentences of a file's first comment, without its name."""
    m = re.match(r"/\*(.*?)\*/", without_licence(text), flags=re.S)
    lines = [re.sub(r"^ ?\* ?", "", line) for line in m[1].strip().split("\n")] if m else []
    if lines:
        lines[0] = re.sub(r"^\S+\.[ch] - ", "", lines[0])
    return "\n".join(lines).strip()


def definition(text, name):
    """The top-level definition of `name` with the comment above it; None: there is none."""
    lines = text.split("\n")
    start = next((i for i, line in enumerate(lines)
                  if re.match(r"(?=[A-Za-z]).*\b%s\b" % re.escape(name), line) and not line.startswith("#")
                  and begins(lines, i)), None)
    if start is None:
        return None
    end = start
    while not closed(lines, start, end):
        end += 1
    while start > 0 and re.match(r"(/\*| \*)", lines[start - 1]) and "----" not in lines[start - 1]:
        start -= 1
    return "\n".join(lines[start:end + 1])


def macro(text, name):
    """The #define of `name` over several lines, with the comment above it."""
    return re.search(r"(?:^/\*(?:(?!\*/).)*\*/\n)?^#define %s\(.*?[^\\]$" % re.escape(name), text, flags=re.S | re.M)[0]


def begins(lines, i):
    """Is line i the first of a definition? A declaration of a function is none."""
    text = lines[i]
    j = i
    while not re.search(r"[;{]", text) and j + 1 < len(lines):
        j += 1
        text += lines[j]
    return not re.match(r"[^={]*\)\s*;", text) or "KEEL_MODULE" in text


def closed(lines, start, end):
    text = "\n".join(lines[start:end + 1])
    depth = sum(text.count(c) for c in "({") - sum(text.count(c) for c in ")}")
    return depth == 0 and (text.rstrip().endswith(";") or lines[end].startswith("}"))
