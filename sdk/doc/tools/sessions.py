# SPDX-License-Identifier: Apache-2.0
#
# sessions.py - the terminal sessions of the guide, typed again by the suite.
#
# In a ```console block a line `$ ...` is typed by a user, `# ...` by an administrator; what follows is what
# they read. `...` stands for any text of a line, alone for any lines. A job's id means the job that got it
# first. A command that ends in & goes on while others are typed; `wait` reads what it said.
#
# In the administrator's guide a prompt begins with a machine, `n1# `: with KEEL_MACHINES, a folder in which there is NAME/pid
# for each, it is typed there. A comment <!-- checked: WORD --> above a block says that it is not typed, and what else is done.
import os
import re
import subprocess
import time
from pathlib import Path

SERVER = os.environ.get("KEEL_SERVER", "svr")
ID = rf"\b\d+(?:\[\d*\])?\.{SERVER}\b"
JOB_ID = re.compile(ID)
PROMPT = re.compile(r"(\w*)([$#]) ")
# What may be asked again until it says what is written here.
ASKS = re.compile(r"^(qstat|pbsnodes|keelson (holds|hooks?|modules|running|explain|health)|grep|tail|cat [^>]|tracejob|ls)")
PATIENCE = int(os.environ.get("KEEL_PATIENCE", 8))


class Command:
    def __init__(self, machine, who, text):
        self.machine, self.who, self.text, self.said = machine, who, text, []


def blocks(chapter):
    text = re.sub(r"^<!-- checked: .*? -->\n+```console\n.*?^```\n", "", Path(chapter).read_text(), flags=re.S | re.M)
    return re.findall(r"^```console\n(.*?)^```", text, flags=re.S | re.M)


def commands(block):
    """A block as commands with what is read after each; the lines of a here document belong to it."""
    found, end = [], None
    for line in block.split("\n")[:-1]:
        if end is not None:
            found[-1].text += "\n" + line
            end = None if line == end else end
        elif prompt := PROMPT.match(line):
            found.append(Command(prompt[1], prompt[2], line[prompt.end():]))
            here = re.search(r"<<-?'?(\w+)'?\s*$", line)
            end = here[1] if here else None
        elif found and found[-1].text.endswith("\\"):
            found[-1].text += "\n" + line
        elif found:
            found[-1].said.append(line)
    return found


class Terminal:
    """Where they are typed: KEEL_ETC stands for /etc/keelson, KEEL_HOME for /var/spool/pbs, KEEL_DOC for
    /usr/local/share/doc/keelson, KEEL_USER types $."""

    def __init__(self, folder):
        self.folder, self.jobs, self.going, self.exports = folder, {}, [], ""
        self.places = [(p, os.environ[v]) for p, v in (("/etc/keelson", "KEEL_ETC"), ("/var/spool/pbs", "KEEL_HOME"),
                                                             ("/usr/local/share/doc/keelson", "KEEL_DOC"))
                       if v in os.environ]
        self.user, self.machines = os.environ.get("KEEL_USER"), os.environ.get("KEEL_MACHINES")

    def real(self, text):
        for shown, place in self.places:
            text = text.replace(shown, place)
        return JOB_ID.sub(lambda m: self.jobs.get(m[0], m[0]), text)

    def start(self, command):
        text = self.exports + self.real(command.text)
        argv = self.there(command, text) if command.machine else ["bash", "-c", text]
        if command.who == "$" and self.user and not command.machine:
            argv = ["runuser", "-u", self.user, "--", *argv]
        return subprocess.Popen(argv, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)

    def there(self, command, text):
        """On a machine, as after a login."""
        home = f"/home/{self.user}" if command.who == "$" else "/root"
        places = "/usr/local/bin:/usr/bin:/bin"
        if command.who == "#":
            places = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        argv = ["env", "-i", f"HOME={home}", f"PATH={places}", "LANG=C.UTF-8", "bash", "-c",
                f"cd {home if command.who == '$' else '/tmp'}\n{text}"]
        if command.who == "$":
            argv = ["runuser", "-u", self.user, "--", *argv]
        pid = Path(self.machines, command.machine, "pid").read_text().strip()
        return ["nsenter", "-t", pid, "-m", "-u", "-i", "-n", "-p", *argv]

    def run(self, command):
        if command.text == "wait":
            went, self.going = self.going, []
            return "".join(p.communicate(timeout=60)[0] for p in went)
        if command.text.startswith("export "):
            self.exports += command.text + "\n"
            return ""
        if command.text.endswith(" &"):
            command.text = command.text[:-2]
            self.going.append(self.start(command))
            return ""
        return self.start(command).communicate(timeout=120)[0]

    def fits(self, command, out):
        """Does what was read look like what is written? New ids are learned."""
        out = out.rstrip("\n")
        for shown, place in self.places:
            out = out.replace(place, shown)
        pattern, ids = "", []
        for line in command.said:
            if line.strip() == "...":
                pattern += r"(?:.*\n)*"
                continue
            for part in re.split(rf"(\.\.\.|{ID})", line.rstrip()):
                if part == "...":
                    pattern += r".*"
                elif JOB_ID.fullmatch(part):
                    if part in self.jobs:
                        pattern += re.escape(self.jobs[part])
                    elif part in ids:
                        pattern += f"(?P=job{ids.index(part)})"
                    else:
                        pattern += f"(?P<job{len(ids)}>\\d+(?:\\[\\d*\\])?\\.{SERVER})"
                        ids.append(part)
                else:
                    pattern += r"\s+".join(re.escape(w) for w in re.split(r"\s+", part))
            pattern += r"[ \t]*\n"
        m = re.fullmatch(pattern, out + "\n" if out else "")
        if m:
            self.jobs.update({shown: m[f"job{i}"] for i, shown in enumerate(ids)})
        return m is not None

    def type(self, command):
        """None, or what differs."""
        deadline = time.monotonic() + PATIENCE
        while True:
            out = self.run(command)
            if self.fits(command, out):
                return None
            if not ASKS.match(command.text) or time.monotonic() > deadline:
                return "\n".join([f"{command.machine}{command.who} {command.text}", "-- the guide says", *command.said, "-- it said",
                                  out.rstrip()])
            time.sleep(0.05)


def play(chapter, folder):
    """Type every session of a chapter; the first difference is returned."""
    terminal, typed = Terminal(folder), 0
    for block in blocks(chapter):
        for command in commands(block):
            wrong = terminal.type(command)
            typed += 1
            if wrong:
                return wrong
    return None if typed else f"{chapter} has no session"
