"""Files of keys: what is read, what is refused, and that no secret is ever in a complaint."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker.events import DefinitionError
from broker.wire.keys import Keys, checked_key, read_keys, written_keys

PUBLIC, SECRET, SERVER = "p" * 40, "sSECRETs" * 5, "v" * 40


def file(folder: Path, text: str, mode: int = 0o600) -> Path:
    path = folder / "some.keys"
    path.touch()
    path.write_text(text)
    path.chmod(mode)
    return path


@pytest.mark.parametrize("server", [None, SERVER])
def test_what_is_written_is_read(tmp_path: Path, server: str | None) -> None:
    keys = Keys(PUBLIC, SECRET, server)
    assert read_keys(file(tmp_path, written_keys(keys, "ann"))) == keys
    assert SECRET not in repr(keys)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", 'expected public = "...", found none'),
        (f'public = "{PUBLIC}"', 'expected secret = "...", found none'),
        (f'public = "{PUBLIC}"\nsecret = "{SECRET[1:]}"', "secret: expected a secret key of 40 characters (Z85)"),
        (f'public = "{PUBLIC}"\nsecret = 5', "secret: expected a secret key of 40 characters (Z85)"),
        (
            f'public = "short"\nsecret = "{SECRET}"',
            "public: expected a public key of 40 characters (Z85), found string",
        ),
        (f'public = "{PUBLIC}"\nsecret = "{SECRET}"\nservr = "x"', "unknown key 'servr'; did you mean 'server'?"),
        (f'public = "{PUBLIC}"\nsecret = "{SECRET}', "expected a file of keys, as `foretell keygen` writes it"),
    ],
)
def test_a_wrong_file_is_one_line_without_the_secret(tmp_path: Path, text: str, reason: str) -> None:
    path = file(tmp_path, text)
    with pytest.raises(DefinitionError) as caught:
        read_keys(path)
    assert str(caught.value).startswith(f"{path}: {reason}")
    assert "SECRET" not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("mode", [0o604, 0o640, 0o660, 0o777])
def test_a_file_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    path = file(tmp_path, written_keys(Keys(PUBLIC, SECRET), "ann"), mode)
    with pytest.raises(DefinitionError, match=f"only its owner can read .* found the mode {mode:o}"):
        read_keys(path)


def test_no_file_and_no_text_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match="No such file"):
        read_keys(tmp_path / "none")
    path = file(tmp_path, "")
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(DefinitionError, match="expected a file of keys"):
        read_keys(path)


@pytest.mark.parametrize("key", ["", "x" * 39, "x" * 41, '"' + "x" * 39, "é" * 40, None, 5])
def test_what_is_no_key_is_refused(key: object) -> None:
    with pytest.raises(DefinitionError, match="here: expected a public key"):
        checked_key(key, "here")
