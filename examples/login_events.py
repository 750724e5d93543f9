"""Make events from the log of an SSH server, as JSON lines: `python login_events.py LOG [YEAR]`. LOG may be a .gz.

Only lines of sshd about the outcome of a login become events. A line of syslog contains no year, and may stand for
several equal lines. The line that ends a session contains no address, so its event has the address of the login that
the same process accepted.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

LINE = re.compile(
    r"(?P<when>\w{3} [ \d]\d \d\d:\d\d:\d\d) \S+ sshd\[(?P<process>\d+)\]: "
    r"(?:message repeated (?P<times>\d+) times: \[ )?(?P<message>.*)"
)
STATUS = (
    ("denied", re.compile(r"Failed password for .* from (?P<ip>\S+) port \d+")),
    ("success", re.compile(r"Accepted \w+ for \S+ from (?P<ip>\S+) port \d+")),
    ("logoff", re.compile(r"pam_unix\(sshd:session\): session closed for user")),
)


def login_events(lines: Iterable[str], year: int) -> Iterator[dict[str, Any]]:
    """Yield the events of a log in order."""
    accepted: dict[str, str] = {}  # the address of each process's session
    for line in lines:
        if (entry := LINE.match(line)) is None:
            continue
        for status, pattern in STATUS:
            if (found := pattern.match(entry["message"])) is None:
                continue
            process = entry["process"]
            ip = accepted.pop(process, None) if status == "logoff" else found["ip"]
            if status == "success":
                accepted[process] = found["ip"]
            if ip is not None:
                when = datetime.strptime(f"{year} {entry['when']} +0000", "%Y %b %d %H:%M:%S %z")
                event = {"stream": "Login", "time": when.isoformat(), "data": {"ip": ip, "status": status}}
                yield from [event] * int(entry["times"] or 1)


def main() -> None:
    log, year = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 2017
    text = gzip.decompress(log.read_bytes()) if log.suffix == ".gz" else log.read_bytes()
    for event in login_events(text.decode().splitlines(), year):
        print(json.dumps(event))


if __name__ == "__main__":
    main()
