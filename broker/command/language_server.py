"""`foretell language-server`: answers editors by the language server protocol, over standard input and output.

Here: the protocol. Not here: the answers (editing). Needs pygls, the extra `editor`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .complaint import BadInput

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

    from .editing import Place


def language_server() -> None:
    """Serve an editor: mistakes while typing, completion, types, formatting of subscription files."""
    try:
        import pygls  # noqa: F401  # whether it is there
    except ImportError:
        raise BadInput("this command needs pygls, which is not installed: pip install 'foretell[editor]'") from None
    server().start_io()


def server() -> LanguageServer:
    """A language server that answers for every open file."""
    from lsprotocol import types
    from pygls.lsp.server import LanguageServer

    from .. import __version__
    from . import editing

    serving: Any = LanguageServer("foretell", __version__)
    kinds = {
        "attribute": types.CompletionItemKind.Field,
        "stream": types.CompletionItemKind.Class,
        "function": types.CompletionItemKind.Function,
    }
    severities = {"error": types.DiagnosticSeverity.Error, "warning": types.DiagnosticSeverity.Warning}

    def text(uri: str) -> str:
        found: str = serving.workspace.get_text_document(uri).source
        return found

    def asked(parameters: Any) -> tuple[str, Place]:
        own = text(parameters.text_document.uri)
        lines = editing.lines_of(own)
        line = min(parameters.position.line, len(lines) - 1)
        return own, (line, editing.characters(lines[line], parameters.position.character))

    def publish(uri: str) -> None:
        own = text(uri)
        lines = editing.lines_of(own)
        found = []
        for each in editing.findings(own):
            line = min(each.place[0], len(lines) - 1)
            begin = editing.utf16(lines[line], each.place[1])
            word = len(lines[line][each.place[1] :].split(" ")[0]) or 1
            where = types.Range(types.Position(line, begin), types.Position(line, begin + word))
            found.append(types.Diagnostic(where, each.message, severities[each.severity], source="foretell"))
        serving.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found))

    def opened(parameters: types.DidOpenTextDocumentParams) -> None:
        publish(parameters.text_document.uri)

    def changed(parameters: types.DidChangeTextDocumentParams) -> None:
        publish(parameters.text_document.uri)

    def completed(parameters: types.CompletionParams) -> list[types.CompletionItem]:
        return [
            types.CompletionItem(each.word, kind=kinds[each.kind], detail=each.about)
            for each in editing.suggestions(*asked(parameters))
        ]

    def shown(parameters: types.HoverParams) -> types.Hover | None:
        about = editing.hover(*asked(parameters))
        return None if about is None else types.Hover(types.MarkupContent(types.MarkupKind.PlainText, about))

    def printed(parameters: types.DocumentFormattingParams) -> list[types.TextEdit]:
        own = text(parameters.text_document.uri)
        end = types.Position(len(editing.lines_of(own)), 0)
        return [types.TextEdit(types.Range(types.Position(0, 0), end), editing.formatted(own))]

    completion = types.CompletionOptions(trigger_characters=[".", "{", "("])
    for feature, options, answer in (
        (types.TEXT_DOCUMENT_DID_OPEN, None, opened),
        (types.TEXT_DOCUMENT_DID_CHANGE, None, changed),
        (types.TEXT_DOCUMENT_COMPLETION, completion, completed),
        (types.TEXT_DOCUMENT_HOVER, None, shown),
        (types.TEXT_DOCUMENT_FORMATTING, None, printed),
    ):
        serving.feature(feature, options)(answer)
    found: LanguageServer = serving
    return found
