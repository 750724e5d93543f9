"""What `make docs` does beyond mkdocs: pages outside docs/, linked sources, and references from the code.

A page links to files anywhere in the repository, as readers of the repository need it. Each file outside docs/ that a
page reaches becomes a page of the site below project/: Markdown as it is, pictures as they are, other text as a
listing. README.md is the first page. The pages below reference/ come from docstrings (mkdocstrings) and from the
commands themselves (typer), so that none repeats what the code says.
"""

from __future__ import annotations

import json
import posixpath
import re
from pathlib import Path
from typing import Any, Final

from mkdocs.structure.files import File, Files

ROOT: Final = Path(__file__).resolve().parent.parent
LINK: Final = re.compile(r"(\]\()([^)\s]+)(\))")
FENCE: Final = re.compile(r"^(```+)(\w[\w-]*)([^\n`]+)$", re.MULTILINE)
CODE: Final = re.compile(r"^(```+).*?^\1$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
PICTURES: Final = (".svg", ".png", ".jpg")
LANGUAGES: Final = {".py": "python", ".toml": "toml", ".lark": "text", ".sh": "bash", ".json": "json", ".yml": "yaml"}
ALWAYS: Final = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
REFERENCES: Final = {
    "reference/engine.md": (
        "Embedded engine",
        ("broker.engine.Engine", "broker.engine.Results", "broker.engine.Match"),
    ),
    "reference/client.md": (
        "Client",
        ("client.Client", "client.Subscription", "client.Notification", "client.Publisher", "client.errors"),
    ),
    "reference/client-aio.md": ("Client for asyncio", ("client.aio.Client", "client.aio.Subscription")),
    "reference/spark.md": ("Spark", ("spark_bridge",)),
}


def site_path(path: str) -> str:
    """The page or file of the site for a file of the repository, by its path there."""
    if path == "README.md":
        return "index.md"
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    whole = path if path.endswith((".md", *PICTURES)) else f"{path}.md"
    return f"project/{whole}".replace("/.", "/dot-")  # mkdocs leaves hidden folders out


def outside_code(text: str, change: Any) -> str:
    """The text with `change` applied to what is not code."""
    parts, end = [], 0
    for code in CODE.finditer(text):
        parts += [change(text[end : code.start()]), code.group()]
        end = code.end()
    return "".join([*parts, change(text[end:])])


def targets(path: str, text: str) -> dict[str, str]:
    """The links of a page to files of the repository: as written, to the path in the repository."""
    found: dict[str, str] = {}

    def look(part: str) -> str:
        for link in LINK.finditer(part):
            written = link.group(2).partition("#")[0]
            if written and "://" not in written and not written.startswith("mailto:"):
                found[written] = posixpath.normpath(posixpath.join(posixpath.dirname(path), written))
        return part

    outside_code(text, look)
    return found


def content(path: str) -> str:
    """A file outside docs/ as the text of a page."""
    file = ROOT / path
    if file.is_dir():
        names = sorted(
            each.name + ("/" if each.is_dir() else "") for each in file.iterdir() if each.name[0] not in "._"
        )
        return f"# {path}\n\n" + "".join(f"- `{name}`\n" for name in names)
    text = file.read_text("utf-8")
    if path.endswith(".md"):
        return text
    fence = "`" * (3 + max((len(ticks) for ticks in re.findall(r"`{3,}", text)), default=0))
    return f"# {path}\n\n{fence}{LANGUAGES.get(file.suffix, 'text')}\n{text.rstrip()}\n{fence}\n"


def on_files(files: Files, config: Any) -> Files:
    """Add what docs/ does not hold: every file that a page reaches, and the references."""
    waiting = [f"docs/{file.src_uri}" for file in files.documentation_pages()] + list(ALWAYS)
    seen: set[str] = set()
    while waiting:
        path = waiting.pop()
        if path in seen or path.startswith("..") or not (ROOT / path).exists():
            continue
        seen.add(path)
        if path.endswith(PICTURES):
            if not path.startswith("docs/"):
                files.append(File.generated(config, site_path(path), content=(ROOT / path).read_bytes()))
            continue
        text = content(path)
        if path.endswith(".md"):
            waiting += sorted(targets(path, text).values())
        if not path.startswith("docs/"):
            files.append(File.generated(config, site_path(path), content=text))
    for page, (title, names) in REFERENCES.items():
        text = f"# {title}\n\n" + "".join(f"::: {name}\n\n" for name in names)
        files.append(File.generated(config, page, content=text))
    files.append(File.generated(config, "reference/commands.md", content=commands()))
    return files


def commands() -> str:
    """Every command with its arguments and options, as the shell has them."""
    from typer.main import get_command

    from broker.command.shell import shell

    lines = ["# Commands and options", "", "`foretell COMMAND --help` shows the same.", ""]
    for name, command in getattr(get_command(shell), "commands", {}).items():
        lines += [f"## foretell {name}", "", (command.help or "").strip(), "", "| parameter | meaning |", "|---|---|"]
        for parameter in command.params:
            argument = parameter.param_type_name != "option"
            shown = (parameter.metavar or parameter.name) if argument else "`, `".join(parameter.opts)
            about = " ".join((getattr(parameter, "help", "") or "").split()).replace("|", "\\|")
            lines.append(f"| `{shown}` | {about} |")
        lines.append("")
    return "\n".join(lines)


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Files) -> str:
    """Lead each link to the page of its file; titles of listings in the site's own form."""
    uri = page.file.src_uri
    here = source_of(uri)
    if here is not None:
        known = targets(here, markdown)

        def lead(part: str) -> str:
            return LINK.sub(lambda link: link.group(1) + led(link.group(2)) + link.group(3), part)

        def led(written: str) -> str:
            name, mark, anchor = written.partition("#")
            target = known.get(name)
            if target is None or not (ROOT / target).exists():
                return written
            return posixpath.relpath(site_path(target), posixpath.dirname(uri) or ".") + mark + anchor

        markdown = outside_code(markdown, lead)
    return FENCE.sub(fenced, markdown)


def source_of(uri: str) -> str | None:
    """The path in the repository of a page in Markdown; None if a page has none."""
    if uri == "index.md":
        return "README.md"
    if uri.startswith("reference/"):
        return None
    if not uri.startswith("project/"):
        path = f"docs/{uri}"
    else:
        path = uri.removeprefix("project").replace("/dot-", "/.")[1:]
    return path if (ROOT / path).is_file() else None


def fenced(found: re.Match[str]) -> str:
    """```toml file=jumps.toml is for the tests that run the pages; readers see the file's name as a title."""
    ticks, language, rest = found.groups()
    name = re.search(r"file=(\S+)", rest)
    return f'{ticks}{language} title="{name.group(1)}"' if name else f"{ticks}{language}"


def on_post_build(config: Any) -> None:
    """List the versions that stand side by side, for the choice at the top of each page."""
    folder = Path(config["site_dir"]).parent
    found = sorted((each.name for each in folder.iterdir() if (each / "index.html").is_file()), reverse=True)
    versions = [{"version": name, "title": name, "aliases": []} for name in found]
    (folder / "versions.json").write_text(json.dumps(versions), "utf-8")
