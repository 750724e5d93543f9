"""Events of started processes: those with which SigmaHQ tests its rules, and made ones, of which most are harmless.

A made event has the 25 fields of Sysmon's event 1 and about 900 characters. One of ten is mixed from the test events of
attacks, each field from another one; the others start everyday programs with options, paths, ids and hashes of their
own. The same seed makes the same events.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, Final

from .naive import Event

FIELDS: Final = (
    *("RuleName", "UtcTime", "ProcessGuid", "ProcessId", "Image", "FileVersion", "Description", "Product", "Company"),
    *("OriginalFileName", "CommandLine", "CurrentDirectory", "User", "LogonGuid", "LogonId", "TerminalSessionId"),
    *("IntegrityLevel", "Hashes", "ParentProcessGuid", "ParentProcessId", "ParentImage", "ParentCommandLine"),
    *("ParentUser", "Computer", "Provider_Name"),
)
ATTACKS: Final = 0.1
_SYSTEM: Final = "C:\\Windows\\System32"
_PROGRAM_FILES: Final = "C:\\Program Files"
_PROGRAMS: Final = (
    (f"{_SYSTEM}\\svchost.exe", "-k netsvcs -p -s {word}", "Host Process for Windows Services"),
    (f"{_SYSTEM}\\conhost.exe", "0xffffffff -ForceV1", "Console Window Host"),
    (f"{_SYSTEM}\\RuntimeBroker.exe", "-Embedding", "Runtime Broker"),
    (f"{_SYSTEM}\\taskhostw.exe", "{word}", "Host Process for Windows Tasks"),
    (f"{_SYSTEM}\\backgroundTaskHost.exe", "-ServerName:App.{word}.mca", "Background Task Host"),
    (f"{_SYSTEM}\\SearchProtocolHost.exe", "Global\\UsGthrPipe{number}_ 1 -{number}", "Search"),
    (f"{_SYSTEM}\\wbem\\WmiPrvSE.exe", "-secured -Embedding", "WMI Provider Host"),
    (
        f"{_PROGRAM_FILES}\\Google\\Chrome\\Application\\chrome.exe",
        "--type=renderer --lang=en-US --id={number}",
        "Chrome",
    ),
    (
        f"{_PROGRAM_FILES}\\Microsoft Office\\root\\Office16\\WINWORD.EXE",
        '/n "C:\\Users\\{user}\\Documents\\{word}.docx"',
        "Word",
    ),
    (f"{_PROGRAM_FILES}\\Microsoft VS Code\\Code.exe", "--type=utility --user-data-dir={word}", "Visual Studio Code"),
    (f"{_PROGRAM_FILES}\\Git\\cmd\\git.exe", "log --oneline -n {number} {word}", "Git"),
    (f"{_PROGRAM_FILES}\\Python311\\python.exe", "-m {word} --number {number}", "Python"),
    (f"{_SYSTEM}\\cmd.exe", "/c dir C:\\data\\{word}", "Windows Command Processor"),
    (f"{_SYSTEM}\\notepad.exe", "C:\\Users\\{user}\\{word}.txt", "Notepad"),
    ("C:\\Windows\\explorer.exe", "/factory,{{{word}}} -Embedding", "Windows Explorer"),
)
_PARENTS: Final = (
    *("C:\\Windows\\System32\\services.exe", "C:\\Windows\\explorer.exe", "C:\\Windows\\System32\\svchost.exe"),
    *("C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe", "C:\\Windows\\System32\\cmd.exe"),
)
_USERS: Final = ("anna", "bernd", "SYSTEM", "chris", "dora", "erik")
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"


def regression_events(path: Path) -> list[tuple[str, Event]]:
    """The test events of started processes: the rule that must find each, and the event."""
    found = []
    for line in path.read_text("utf-8").splitlines():
        entry = json.loads(line)
        event = entry["event"].get("Event", entry["event"])
        system = event.get("System", {})
        if system.get("EventID") == 1 and "Sysmon" in str(system.get("Channel")):
            found.append((str(entry["rule"]), _flat(system, event.get("EventData") or {})))
    return found


def _flat(system: dict[str, Any], data: dict[str, Any]) -> Event:
    values = {"Provider_Name": "Microsoft-Windows-Sysmon", "Computer": system.get("Computer")}
    values |= {name.replace(" ", ""): value for name, value in data.items()}
    return {name: str(value) for name, value in values.items() if value is not None and not isinstance(value, dict)}


def made_events(number: int, attacks: list[Event], seed: int = 1) -> list[Event]:
    """So many events, a tenth of them mixed from attacks."""
    chance = random.Random(seed)
    return [_mixed(chance, attacks) if chance.random() < ATTACKS else _harmless(chance) for _ in range(number)]


def _mixed(chance: random.Random, attacks: list[Event]) -> Event:
    event = dict(_harmless(chance))
    one = chance.choice(attacks)
    for field in FIELDS:
        source = one if chance.random() < 0.5 else chance.choice(attacks)
        if field in source:
            event[field] = source[field]
    return event


def _harmless(chance: random.Random) -> Event:
    image, options, description = chance.choice(_PROGRAMS)
    parent, user = chance.choice(_PARENTS), chance.choice(_USERS)
    named = options.format(word=_word(chance), number=chance.randrange(10_000), user=user)
    name = image.rpartition("\\")[2]
    return {
        "RuleName": "-",
        "UtcTime": f"2026-11-29 12:{chance.randrange(60):02}:{chance.randrange(60):02}.{chance.randrange(1000):03}",
        "ProcessGuid": _guid(chance),
        "ProcessId": str(chance.randrange(65536)),
        "Image": image,
        "FileVersion": "10.0.26100.2454 (WinBuild.160101.0800)",
        "Description": description,
        "Product": "Microsoft\u00ae Windows\u00ae Operating System",
        "Company": "Microsoft Corporation",
        "OriginalFileName": name,
        "CommandLine": f'"{image}" {named}',
        "CurrentDirectory": chance.choice(("C:\\Windows\\system32\\", f"C:\\Users\\{user}\\{_word(chance)}\\")),
        "User": f"{'NT AUTHORITY' if user == 'SYSTEM' else 'CORP'}\\{user}",
        "LogonGuid": _guid(chance),
        "LogonId": hex(chance.randrange(2**20)),
        "TerminalSessionId": str(chance.randrange(3)),
        "IntegrityLevel": chance.choice(("System", "High", "Medium", "Medium", "Low")),
        "Hashes": f"MD5={_digits(chance, 32)},SHA256={_digits(chance, 64)},IMPHASH={_digits(chance, 32)}",
        "ParentProcessGuid": _guid(chance),
        "ParentProcessId": str(chance.randrange(65536)),
        "ParentImage": parent,
        "ParentCommandLine": f'"{parent}" {_word(chance)}',
        "ParentUser": f"CORP\\{chance.choice(_USERS)}",
        "Computer": f"host{chance.randrange(100)}.corp.example",
        "Provider_Name": "Microsoft-Windows-Sysmon",
    }


def _word(chance: random.Random) -> str:
    return "".join(chance.choices(_LETTERS, k=chance.randrange(4, 14)))


def _digits(chance: random.Random, number: int) -> str:
    return f"{chance.getrandbits(4 * number):0{number}X}"


def _guid(chance: random.Random) -> str:
    return f"{_digits(chance, 8)}-{_digits(chance, 4)}-{_digits(chance, 4)}-{_digits(chance, 4)}-{_digits(chance, 12)}"
