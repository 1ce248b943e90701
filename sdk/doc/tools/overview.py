# SPDX-License-Identifier: Apache-2.0
#
# overview.py - the pages that list the others: keelson-guide(7), keelson-hooks(7) and keelson-admin(7).
import tables
from pages import Page, ended


def add(book):
    book.pages.append(hooks(book))
    book.pages.append(guide(book))
    book.pages.append(admin(book))


def admin(book):
    lines = ["For administrators who have read nothing else, in the order in which they need it. Each line that is typed there is typed "
             "by the tests, too.", "", "## Chapters", ""]
    lines += [f"- **{p.man}**({p.section}): {p.sentence}" for p in book.pages if p.part == "admin"]
    page = Page("admin", "keelson-admin", "7", "the administrator's guide", "\n".join(lines), "overview", None)
    page.also = [("keelsond", "8"), ("keelson", "8"), ("keelson-key", "8"), ("pbs.conf", "5"), ("keelson.conf", "5")]
    return page


def guide(book):
    chapters = [p for p in book.pages if p.part == "guide"]
    groups = [p for p in book.pages if p.part in ("kernel", "services", "headers")]
    others = [p for p in book.pages if p.part == "doc"]
    lines = ["How to write a module of Keelson, in the order in which a newcomer asks.", "", "## Chapters", ""]
    lines += [f"- **{p.man}**({p.section}): {p.title}" for p in chapters]
    lines += ["", "## Reference", "", "- **keelson-hooks**(7): every hook point, each with a page of its name"]
    lines += [f"- **{p.man}**({p.section}): {p.sentence}" for p in groups]
    lines += ["", "## In depth", ""] + [f"- **{p.man}**({p.section}): {p.sentence}" for p in others]
    lines += ["", "All of it as one page: `keelson-sdk.html` in the documentation folder of the installation."]
    page = Page("guide", "keelson-guide", "7", "how to write a module of Keelson", "\n".join(lines), "overview", None)
    page.also = [("keelson-module", "3"), ("keelson-hooks", "7")]
    return page


def hooks(book):
    lines = ["A module taps a point with `KEEL_TAP(point, handler)` in its descriptor. Each point has a page of its own, "
             "for instance **job_submit**(3keel). Its kind decides what a tap may answer:", ""]
    for kind, (question, verdicts, policy) in tables.KINDS.items():
        names = " ".join(v.removeprefix("KEEL_") for v in verdicts.split())
        lines.append(f"- **{kind}**: {ended(question)} Answers: {names}. A tap that fails: {policy}, unless its row says "
                     "otherwise.")
    lines += ["", "Taps of a point run in the order that `keelson hooks POINT` prints: before and after first, then order "
              "from low to high, then name. A NOTE about an object that is in the middle of an operation is told after it.", ""]
    for group, points in book.point_groups:
        lines += [f"## Points: {group}", ""]
        for p in points:
            fields = ", ".join(f for _, f, _ in p.fields)
            lines.append(f"- **{p.name}** ({p.kind}): {ended(p.sentence)}" + (f" Fields: {fields}" if fields else ""))
        lines.append("")
    page = Page("hooks", "keelson-hooks", "7", "the places where Keelson asks modules or tells them", "\n".join(lines),
                "overview", None)
    page.also = [("keelson-guide", "7"), ("keelson-module", "3"), ("keelson", "8")]
    return page
