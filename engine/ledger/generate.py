"""Reads the ledger's YAML files, checks every row, and writes the C++ table and the list of ids.

A file has `document` (the first part of every id in it), `title` and `requirements`. The fields of a row:

    id          DOCUMENT-SECTION-n, in documents that are NUMBERED DOCUMENT-n; permanent, never reused for
                another requirement
    level       the document's RFC 2119 word; DEF marks text that is normative in effect without one
                (XDR, numbers, accounting rules)
    role        who must comply: requester and responder are per RPC direction, client and server
                per connection (the client opened it), sender and receiver per message
    subject     the part of the protocol; `legacy` rows bind no RFC 8166 peer
    statement   the requirement in our words
    observable  how a violation looks from outside
    test        how to provoke it; POS: a conforming exchange, NEG: a hostile stimulus
    note        optional: a known conflict, doubt or widespread deviation
    exemption   optional: why the row has no case, a mapping of
                  kind  a word of EXEMPTIONS
                  why   the reason
                  by    ids of the rows that replace it; a `restated` row shares their cases, and
                        is as open as they are
                  role  client or server, if the row binds both and only this one is exempt
    unbroken    optional, for a row with cases: why no deviation of our own peer breaks it, or why
                no case could detect one; a mapping of server, client or both to the reason
"""

import argparse
import dataclasses
import pathlib
import re
import sys

import yaml

LEVELS = {
    "MUST": "must",
    "MUST NOT": "must_not",
    "SHOULD": "should",
    "SHOULD NOT": "should_not",
    "MAY": "may",
    "REQUIRED": "required",
    "OPTIONAL": "optional",
    "NOT RECOMMENDED": "not_recommended",
    "DEF": "def",
}
# Each word says why a row needs no case of its own.
EXEMPTIONS = {
    "unseen": "whether it is kept leaves no trace at the other end of a connection",
    "local": "it is about hosts, administrators, registries or authors, not about a connection",
    "permission": "it only permits something, which no peer can break",
    "restated": "it asks no more than other rows, whose cases are its cases",
    "superseded": "its document was replaced; it binds no peer of today",
    "no-suite": "it binds a role that no suite has for a counterpart",
    "lasting": "what breaks it shows only after longer than a case may last",
    "no-part": "the other side keeps or breaks it, whatever the one that is exempt does",
    "provider": "a client has it from its provider, which only the suite for servers examines",
}
ROLES = frozenset("both requester responder client server sender receiver".split())
ROLES_OF_TWO = ("both", "sender", "receiver")
SIDES = ("server", "client")
SIDE_OF_ROLE = {
    "server": "server",
    "responder": "server",
    "client": "client",
    "requester": "client",
}
ROLES_OF_A_READ = ("requester", "responder")  # in rows on iWARP: of either side
NOT_OBSERVABLE = "not-observable"  # how `observable` begins in a row that needs an exemption
REQUIRED_KEYS = ("id", "level", "role", "subject", "statement", "observable", "test")
OPTIONAL_KEYS = ("note", "exemption", "unbroken")
STRUCTURED_KEYS = ("exemption", "unbroken")
EXEMPTION_KEYS = ("kind", "role", "by", "why")
FILE_KEYS = ("document", "title", "requirements")
ID = re.compile(r"(?P<document>[A-Z]+\d*)(-(?P<section>[0-9A-Z]+(\.\d+)*))?-\d+")
# Documents with one list of requirements, whose numbers need no section.
NUMBERED = ("ODAFS",)
SUBJECT = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
# Far above the documents' numbers. A larger file is a mistake, not a ledger.
MOST_REQUIREMENTS = 5000


class LedgerError(Exception):
    """One mistake in the ledger, with its file and id."""


@dataclasses.dataclass(frozen=True)
class Document:
    name: str
    title: str
    rows: list


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """Refuses duplicate keys in a mapping: YAML forbids them, and PyYAML accepts them."""

    def construct_mapping(self, node, deep=False):
        seen = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"key '{key.value}' appears twice", key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def _check_row(path, row, document):
    """Raises LedgerError unless `row` is a well-formed requirement of `document`."""
    if not isinstance(row, dict) or not isinstance(row.get("id"), str):
        raise LedgerError(f"{path}: a row without a textual id: {str(row)[:80]}")
    where = f"{path}: {row['id']}"
    for key in REQUIRED_KEYS:
        if key not in row:
            raise LedgerError(f"{where}: '{key}' is missing")
    for key, value in row.items():
        if key not in REQUIRED_KEYS + OPTIONAL_KEYS:
            raise LedgerError(f"{where}: unknown key '{key}'")
        if key not in STRUCTURED_KEYS:
            _check_text(where, key, value)
    match = ID.fullmatch(row["id"])
    form = "DOCUMENT-n" if document in NUMBERED else "DOCUMENT-SECTION-n"
    if not match or (match["section"] is None) != (document in NUMBERED):
        raise LedgerError(f"{where}: the id does not read {form}")
    if match["document"] != document:
        raise LedgerError(f"{where}: the id belongs to another document than {document}")
    if row["level"] not in LEVELS:
        raise LedgerError(f"{where}: unknown level '{row['level']}'")
    if row["role"] not in ROLES:
        raise LedgerError(f"{where}: unknown role '{row['role']}'")
    if not SUBJECT.fullmatch(row["subject"]):
        raise LedgerError(f"{where}: subject '{row['subject']}' is not lower-case-with-hyphens")
    if "exemption" in row:
        _check_exemption(where, row["exemption"], _binds_two(row))
    elif row["observable"].startswith(NOT_OBSERVABLE):
        raise LedgerError(f"{where}: not observable, but without an exemption")
    if "unbroken" in row:
        sides = SIDES if _binds_two(row) else (SIDE_OF_ROLE[row["role"]],)
        _check_unbroken(where, row["unbroken"], sides)


def _binds_two(row):
    """Whether servers and clients both must comply."""
    of_a_read = row["subject"] == "iwarp" and row["role"] in ROLES_OF_A_READ
    return of_a_read or row["role"] in ROLES_OF_TWO


def _check_text(where, key, value):
    if not isinstance(value, str) or not value.strip():
        raise LedgerError(f"{where}: '{key}' is not a non-empty text")


def _check_exemption(where, exemption, binds_two):
    """Raises LedgerError unless it is a well-formed exemption. `binds_two`: the row binds both
    roles."""
    if not isinstance(exemption, dict) or not {"kind", "why"} <= set(exemption):
        raise LedgerError(f"{where}: an exemption holds a kind and a why")
    for key, value in exemption.items():
        if key not in EXEMPTION_KEYS:
            raise LedgerError(f"{where}: unknown key '{key}' in the exemption")
        if key != "by":
            _check_text(where, key, value)
    if exemption["kind"] not in EXEMPTIONS:
        raise LedgerError(f"{where}: unknown kind of exemption '{exemption['kind']}'")
    if "role" in exemption and not (binds_two and exemption["role"] in ("client", "server")):
        raise LedgerError(f"{where}: 'role' is client or server, in a row that binds both")
    by = exemption.get("by", [])
    if not isinstance(by, list) or not all(isinstance(name, str) for name in by):
        raise LedgerError(f"{where}: 'by' is a list of ids")
    if exemption["kind"] == "restated" and not by:
        raise LedgerError(f"{where}: a restated row names the rows whose cases are its cases")


def _check_unbroken(where, unbroken, sides):
    """Raises LedgerError unless it has a reason for one or both of the sides that the row binds."""
    if not isinstance(unbroken, dict) or not unbroken:
        raise LedgerError(f"{where}: 'unbroken' maps server or client to the reason")
    for side, why in unbroken.items():
        if side not in sides:
            raise LedgerError(f"{where}: 'unbroken' names {side}, which the row does not bind")
        _check_text(where, f"unbroken: {side}", why)


def _check_references(rows):
    """Checks that rows in `by` exist. If their cases count for both rows, they must have some."""
    by_id = {row["id"]: row for row in rows}
    for row in rows:
        for name in row.get("exemption", {}).get("by", []):
            if name not in by_id:
                raise LedgerError(
                    f"{row['id']}: {name}, which stands instead, is not in the ledger"
                )
            instead = by_id[name].get("exemption", {"role": "none"})
            if row["exemption"]["kind"] == "restated" and "role" not in instead:
                raise LedgerError(f"{row['id']}: {name}, which stands instead, is exempt itself")


def load(path):
    """The Document in one YAML file. LedgerError names the file and the bad id."""
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except (OSError, UnicodeDecodeError) as error:
        raise LedgerError(f"{path}: cannot be read: {error}") from error
    except yaml.YAMLError as error:
        raise LedgerError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(content, dict) or sorted(content) != sorted(FILE_KEYS):
        raise LedgerError(f"{path}: the file must hold exactly {', '.join(FILE_KEYS)}")
    for key in ("document", "title"):
        if not isinstance(content[key], str):
            raise LedgerError(f"{path}: '{key}' is not a text")
    rows = content["requirements"]
    if not isinstance(rows, list) or not rows:
        raise LedgerError(f"{path}: 'requirements' is not a list with rows")
    for row in rows:
        _check_row(path, row, content["document"])
    return Document(content["document"], content["title"], rows)


def load_all(paths):
    """All documents of the ledger; refuses duplicate documents and ids."""
    documents, first_seen = {}, {}
    for path in paths:
        document = load(path)
        if document.name in documents:
            raise LedgerError(f"{path}: document {document.name} has another file already")
        documents[document.name] = document
        for row in document.rows:
            if row["id"] in first_seen:
                raise LedgerError(
                    f"{path}: {row['id']}: the id is taken in {first_seen[row['id']]}"
                )
            first_seen[row["id"]] = path
    if len(first_seen) > MOST_REQUIREMENTS:
        raise LedgerError(f"{len(first_seen)} requirements, the limit is {MOST_REQUIREMENTS}")
    found = list(documents.values())
    _check_references(sorted_rows(found))
    return found


def sorted_rows(documents):
    return sorted((row for document in documents for row in document.rows), key=lambda r: r["id"])


def _literal(text):
    """A C++ string literal, with octal escapes except for printable ASCII."""
    parts = []
    for octet in text.encode("utf-8"):
        if octet in b'"\\?':
            parts.append("\\" + chr(octet))
        elif 0x20 <= octet < 0x7F:
            parts.append(chr(octet))
        else:
            parts.append(f"\\{octet:03o}")
    return '"' + "".join(parts) + '"'


def write_ids(rows):
    """The header with every id, for look-ups at compile time."""
    lines = [
        "// Generated from the ledger's YAML files: every requirement id, in order.",
        "#pragma once",
        "",
        "#include <array>",
        "#include <string_view>",
        "",
        "namespace steertag::ledger {",
        "",
        f"inline constexpr std::array<std::string_view, {len(rows)}> kIds = {{",
        *(f"    {_literal(row['id'])}," for row in rows),
        "};",
        "",
        "}  // namespace steertag::ledger",
    ]
    return "\n".join(lines) + "\n"


def _exemption_initializer(exemption):
    texts = [exemption.get(key, "") for key in EXEMPTION_KEYS]
    texts[EXEMPTION_KEYS.index("by")] = " ".join(exemption.get("by", []))
    return "{" + ", ".join(map(_literal, texts)) + "}"


def _row_initializer(row):
    match = ID.fullmatch(row["id"])
    texts = [row["id"], match["document"], match["section"] or ""]
    after = [row["role"], row["subject"], row["statement"], row["observable"], row["test"]]
    after.append(row.get("note", ""))
    fields = [_literal(text) for text in texts]
    fields.append(f"Level::{LEVELS[row['level']]}")
    fields += [_literal(text) for text in after]
    fields.append(_exemption_initializer(row.get("exemption", {})))
    return "    {" + ",\n     ".join(fields) + "},"


def _unbroken_initializer(row):
    texts = [row["id"], *(row["unbroken"].get(side, "") for side in SIDES)]
    return "    {" + ", ".join(map(_literal, texts)) + "},"


def write_table(documents, rows):
    """The source with the rows, the documents, and the `unbroken` reasons."""
    unbroken = [_unbroken_initializer(row) for row in rows if "unbroken" in row]
    lines = [
        "// Generated from the ledger's YAML files: every requirement and every document.",
        '#include "ledger/table.h"',
        "",
        "namespace steertag::ledger {",
        "",
        f"const std::array<Requirement, {len(rows)}> kRequirements = {{{{",
        *(_row_initializer(row) for row in rows),
        "}};",
        "",
        f"const std::array<Document, {len(documents)}> kDocumentRows = {{{{",
        *(
            f"    {{{_literal(document.name)}, {_literal(document.title)}}},"
            for document in sorted(documents, key=lambda d: d.name)
        ),
        "}};",
        "const std::span<const Document> kDocuments = kDocumentRows;",
        "",
        f"const std::array<Unbroken, {len(unbroken)}> kUnbrokenRows = {{{{",
        *unbroken,
        "}};",
        "const std::span<const Unbroken> kUnbroken = kUnbrokenRows;",
        "",
        "}  // namespace steertag::ledger",
    ]
    return "\n".join(lines) + "\n"


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Generates the ledger's C++ table.")
    parser.add_argument("--ids", type=pathlib.Path, help="header to write the ids to")
    parser.add_argument("--table", type=pathlib.Path, help="source to write the rows to")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    options = parser.parse_args(arguments)
    try:
        documents = load_all(options.files)
    except LedgerError as error:
        print(f"ledger: {error}", file=sys.stderr)
        return 1
    rows = sorted_rows(documents)
    for path, content in (
        (options.ids, write_ids(rows)),
        (options.table, write_table(documents, rows)),
    ):
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
