# SPDX-License-Identifier: Apache-2.0
#
# render.py - pages as manual pages and as one HTML page; lowdown(1) does the conversion.
import html
import re
import subprocess
from pathlib import Path

import quote

PARTS = [("guide", "The guide"), ("points", "Hook points"), ("kernel", "Functions of the kernel"),
         ("services", "Services of modules"), ("headers", "Headers"), ("doc", "In depth")]


# A page is what it says: no clever quotes, no markup inside snake_case, nothing that is not Markdown.
OPTIONS = ["--parse-no-" + w for w in ("autolink", "metadata", "intraemph", "super", "deflists", "ext-attrs")] + [
    "--out-no-smarty"]


def lowdown(form, text):
    text = re.sub(r"^```.*?^```$", lambda m: m[0].expandtabs(8), text, flags=re.S | re.M)
    return subprocess.run(["lowdown", "-t" + form, *OPTIONS], input=text, text=True, check=True,
                          capture_output=True).stdout


# ---- what stands for something else in a page ------------------------------------------------------------

def resolve(book, page):
    """Directives of a page replaced: <!-- code FILE NAME... -->, <!-- whole FILE -->, <!-- points -->."""
    def code(m):
        path, names = m[1], m[2].split()
        if path.startswith("modules/") and not (book.top / path).parent.exists():
            return f"(The folder {path.rpartition('/')[0]} is not in this tree.)"
        text = (book.top / path).read_text()
        found = []
        for name in names:
            piece = quote.definition(text, name)
            if piece is None:
                book.complaints.append(f"{page.source}: {path} has no {name}")
            found.append(piece or "")
        return "```c\n" + "\n\n".join(found) + "\n```"

    def whole(m):
        form = "python" if m[1].endswith(".py") else "c"
        return f"```{form}\n" + quote.without_licence((book.top / m[1]).read_text()).rstrip() + "\n```"

    def points(m):
        lines = []
        for group, rows in book.point_groups:
            lines += [f"**{group}**", ""] + [f"- `{p.name}` ({p.kind}): {p.sentence}" for p in rows] + [""]
        return "\n".join(lines)

    def fixtures(m):
        return "\n".join(f"- `{name}.c`: " + " ".join(quote.head(
            (book.top / "tests" / "fixtures" / f"{name}.c").read_text()).split("\n\n")[0].split())
            for name in m[1].split())

    text = re.sub(r"<!-- code (\S+) ([^>]*?) -->", code, page.body)
    text = re.sub(r"<!-- whole (\S+) -->", whole, text)
    text = re.sub(r"<!-- points -->", points, text)
    text = re.sub(r"<!-- fixtures ([^>]*?) -->", fixtures, text)
    return re.sub(r"<!--.*?-->\n?", "", text, flags=re.S)


def outside_code(text, change):
    """Apply change() to what is not in a fenced block."""
    parts = re.split(r"(^```.*?^```$)", text, flags=re.S | re.M)
    return "".join(p if i % 2 else change(p) for i, p in enumerate(parts))


def link_target(book, page, href):
    """The page that a relative link names; None: it leads elsewhere."""
    if re.match(r"[a-z]+:", href) or href.startswith("#"):
        return None
    file = (page.source.parent / href.split("#")[0]).resolve() if page.source else None
    return next((p for p in book.pages if p.source and p.source.resolve() == file), None)


def relink(book, page, text, show):
    def one(m):
        target = link_target(book, page, m[2])
        return show(m[1], target, m[2]) if target or not re.match(r"[a-z]+:|#", m[2]) else m[0]
    return outside_code(text, lambda t: re.sub(r"\[([^\]]+)\]\(([^)\s]+)\)", one, t))


# ---- manual pages ----------------------------------------------------------------------------------------

def man_page(book, page):
    def show(words, target, href):
        return f"{words} (**{target.man}**({target.section}))" if target else f"{words} ({href})"

    text = relink(book, page, resolve(book, page), show)
    text = outside_code(text, lambda t: re.sub(r"^##", "#", t, flags=re.M))
    roff = lowdown("man", text)
    roff = re.sub(r"\\fC", r"\\fB", roff)
    roff = re.sub(r"^\.(S[HS])\n(.*)\n(?:\.[LP]P\n)?", lambda m: f".{m[1]} {m[2].upper() if m[1] == 'SH' else m[2]}\n",
                  roff, flags=re.M)
    roff = re.sub(r"^\.\\\"[^\n]*\n|^\.TH[^\n]*\n", "", roff, flags=re.M)
    # Items of a list stand close together.
    roff = re.sub(r"^\.if n \\\n\.sp -1v?\n\.if t \\\n\.sp [^\n]*\n(\.IP [^\n]*)$", r".PD 0\n\1\n.PD", roff, flags=re.M)
    also = [f".BR {name} ({section})" for name, section in see_also(book, page)]
    sentence = page.sentence.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join([
        "'\\\" t", ".\\\" SPDX-License-Identifier: Apache-2.0", ".\\\" made from the SDK's own files: do not edit",
        f'.TH {page.man.upper()} {page.section} "" Keelson "Keelson manual"', ".SH NAME",
        f"{page.man} \\- {sentence}", ".SH DESCRIPTION",
        re.sub(r"\A\s*\.[LP]P\n", "", roff.lstrip()).rstrip(), ".SH SEE ALSO", " ,\n".join(also), ""])


def see_also(book, page):
    if page.part not in ("guide", "admin"):
        return page.also or [("keelson-guide", "7"), ("keelson-hooks", "7")]
    chapters = [p for p in book.pages if p.part == page.part]
    at = chapters.index(page)
    near = chapters[max(0, at - 1):at] + chapters[at + 1:at + 2]
    return [(f"keelson-{page.part}", "7")] + [(p.man, p.section) for p in near]


# ---- the HTML page ---------------------------------------------------------------------------------------

def html_body(book, page):
    def show(words, target, href):
        return f"[{words}](#{target.name})" if target else f"{words} (`{href}`)"

    text = relink(book, page, resolve(book, page), show)
    out = lowdown("html", text)
    out = re.sub(r"<h(\d)[^>]*>(.*?)</h\1>", lambda m: heading(page, m), out, flags=re.S)
    return re.sub(r"<code>([^<]*)</code>", lambda m: known_name(book, page, m), out)


def heading(page, m):
    level = min(int(m[1]) + 1, 6)
    slug = re.sub(r"[^a-z0-9]+", "-", html.unescape(re.sub(r"<[^>]*>", "", m[2])).lower()).strip("-")
    return f'<h{level} id="{page.name}--{slug}">{m[2]}</h{level}>'


def known_name(book, page, m):
    """`job_submit` and `keel_hold()` lead to where they are described."""
    word = html.unescape(m[1])
    call = re.fullmatch(r"(keel_\w+)\(.*\)", word)
    if word in book.points and word != page.name:
        return f'<a href="#{word}">{m[0]}</a>'
    if call:
        for g in book.groups:
            if g.called and call[1] in {f.called for f in g.functions()}:
                return f'<a href="#api-{g.name}--{call[1].replace("_", "-")}">{m[0]}</a>'
    return m[0]


def html_page(book, version):
    here = Path(__file__).parent
    nav, main = [], []
    for part, title in PARTS:
        pages = [p for p in book.pages if p.part.split()[0] == part]
        if not pages:
            continue
        shown = " open" if part == "guide" else ""
        nav.append(f'<details{shown}><summary><a href="#part-{part}">{title}</a></summary>'
                   + nav_list(pages, ordered=part == "guide") + "</details>")
        main.append(f'<section class="part" id="part-{part}"><h1>{title}</h1>')
        for p in pages:
            lead = "" if p.source else f'<p class="lead">{html.escape(p.sentence)}</p>' if p.part in (
                "kernel", "services", "headers") else ""
            manual = f'<p class="man">{p.man}({p.section})</p>'
            main.append(f'<article id="{p.name}"><h2>{html.escape(p.title)}</h2>{manual}{lead}{html_body(book, p)}</article>')
        main.append("</section>")
    page = (here / "page.html").read_text()
    return page.replace("@VERSION@", html.escape(version)).replace("@NAV@", "\n".join(nav)).replace(
        "@MAIN@", "\n".join(main))


def nav_list(pages, ordered):
    out, group = [], None
    tag = "ol" if ordered else "ul"
    for p in pages:
        if " " in p.part and p.part != group:
            out += ["</ul>" if group else "", f"<h3>{html.escape(p.part.split(' ', 1)[1])}</h3><ul>"]
            group = p.part
        out.append(f'<li><a href="#{p.name}">{html.escape(p.title)}</a></li>')
    return "".join(out) + "</ul>" if group else f"<{tag}>{''.join(out)}</{tag}>"
