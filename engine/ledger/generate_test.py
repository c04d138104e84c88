"""The ledger's generator: valid input, and the error for each mistake."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import generate

FOLDER = pathlib.Path(__file__).parent / "requirements"
ROW = {
    "id": "RFC8166-4.2.1-1",
    "level": "MUST",
    "role": "sender",
    "subject": "xid",
    "statement": "One XID.",
    "observable": "Two XIDs.",
    "test": "POS: look.",
}


def write(tmp_path, rows, document="RFC8166", name="rfc.yaml"):
    path = tmp_path / name
    content = {"document": document, "title": "A title", "requirements": rows}
    path.write_text(generate.yaml.safe_dump(content))
    return path


def error_of(*paths):
    with pytest.raises(generate.LedgerError) as caught:
        generate.load_all(paths)
    return str(caught.value)


def test_the_real_ledger_is_accepted_and_sorted():
    rows = generate.sorted_rows(generate.load_all(sorted(FOLDER.glob("*.yaml"))))
    ids = [row["id"] for row in rows]
    # Ids are permanent: rows may be added, never dropped.
    assert len(ids) == 869
    assert ids == sorted(set(ids))


def test_every_file_is_listed_for_cmake():
    listed = (FOLDER.parent / "CMakeLists.txt").read_text()
    for path in FOLDER.glob("*.yaml"):
        assert f" {path.stem}" in listed.replace("\n", " ").replace(")", " "), path.name


@pytest.mark.parametrize("key", generate.REQUIRED_KEYS[1:])
def test_a_missing_field_is_named(tmp_path, key):
    path = write(tmp_path, [{k: v for k, v in ROW.items() if k != key}])
    assert error_of(path) == f"{path}: RFC8166-4.2.1-1: '{key}' is missing"


@pytest.mark.parametrize(
    "change, problem",
    [
        ({"level": "must"}, "unknown level 'must'"),
        ({"role": "peer"}, "unknown role 'peer'"),
        ({"subject": "Write List"}, "subject 'Write List' is not lower-case-with-hyphens"),
        ({"statement": "  "}, "'statement' is not a non-empty text"),
        ({"observable": 7}, "'observable' is not a non-empty text"),
        ({"source": "text"}, "unknown key 'source'"),
    ],
)
def test_a_wrong_field_is_named(tmp_path, change, problem):
    path = write(tmp_path, [ROW | change])
    assert error_of(path) == f"{path}: RFC8166-4.2.1-1: {problem}"


@pytest.mark.parametrize(
    "role, unbroken, problem",
    [
        ("both", {"server": "a", "client": "b"}, None),
        ("responder", {"server": "a"}, None),
        ("client", {"client": "a"}, None),
        ("both", {}, "'unbroken' maps server or client to the reason"),
        ("both", "it cannot", "'unbroken' maps server or client to the reason"),
        ("requester", {"server": "a"}, "'unbroken' names server, which the row does not bind"),
        ("both", {"why": "a"}, "'unbroken' names why, which the row does not bind"),
        ("both", {"client": " "}, "'unbroken: client' is not a non-empty text"),
    ],
)
def test_why_a_row_is_unbroken_is_said_for_sides_that_it_binds(tmp_path, role, unbroken, problem):
    path = write(tmp_path, [ROW | {"role": role, "unbroken": unbroken}])
    if problem:
        assert error_of(path) == f"{path}: RFC8166-4.2.1-1: {problem}"
    else:
        table = generate.write_table(generate.load_all([path]), [ROW | {"unbroken": unbroken}])
        reasons = [unbroken.get(side, "") for side in ("server", "client")]
        assert '{"RFC8166-4.2.1-1", "%s", "%s"},' % tuple(reasons) in table


def test_a_row_without_id_is_shown(tmp_path):
    path = write(tmp_path, [{"level": "MUST"}])
    assert error_of(path) == f"{path}: a row without a textual id: {{'level': 'MUST'}}"


def test_a_malformed_id_is_refused(tmp_path):
    path = write(tmp_path, [ROW | {"id": "RFC8166-4.2.1"}])
    assert error_of(path) == f"{path}: RFC8166-4.2.1: the id does not read DOCUMENT-SECTION-n"


@pytest.mark.parametrize(
    "document, id, form",
    [("RFC8166", "RFC8166-4", "DOCUMENT-SECTION-n"), ("ODAFS", "ODAFS-1-4", "DOCUMENT-n")],
)
def test_an_id_has_a_section_unless_its_document_is_numbered(tmp_path, document, id, form):
    path = write(tmp_path, [ROW | {"id": id}], document=document)
    assert error_of(path) == f"{path}: {id}: the id does not read {form}"


def test_a_numbered_row_has_no_section(tmp_path):
    path = write(tmp_path, [ROW | {"id": "ODAFS-4"}], document="ODAFS")
    table = generate.write_table(generate.load_all([path]), [ROW | {"id": "ODAFS-4"}])
    assert '{"ODAFS-4",\n     "ODAFS",\n     "",' in table


def test_an_id_of_another_document_is_refused(tmp_path):
    path = write(tmp_path, [ROW | {"id": "RFC8167-4.2.1-1"}])
    assert error_of(path).startswith(f"{path}: RFC8167-4.2.1-1: the id belongs to another document")


def test_an_id_twice_in_one_file_is_refused(tmp_path):
    path = write(tmp_path, [ROW, ROW])
    assert error_of(path) == f"{path}: RFC8166-4.2.1-1: the id is taken in {path}"


def test_a_document_in_two_files_is_refused(tmp_path):
    first = write(tmp_path, [ROW], name="a.yaml")
    second = write(tmp_path, [ROW], name="b.yaml")
    assert error_of(first, second) == f"{second}: document RFC8166 has another file already"


def test_a_key_twice_in_one_row_is_refused(tmp_path):
    path = write(tmp_path, [ROW])
    path.write_text(path.read_text().replace("  level: MUST\n", "  level: MUST\n  level: MAY\n"))
    assert "key 'level' appears twice" in error_of(path)


@pytest.mark.parametrize("text", ["", "[]", "requirements: []", "document: RFC1\ntitle: 't'\n"])
def test_a_file_of_another_shape_is_refused(tmp_path, text):
    path = tmp_path / "rfc.yaml"
    path.write_text(text)
    assert error_of(path) == f"{path}: the file must hold exactly document, title, requirements"


def test_what_is_not_yaml_is_refused(tmp_path):
    path = tmp_path / "rfc.yaml"
    path.write_text("document: [")
    assert error_of(path).startswith(f"{path}: not YAML: ")


def test_a_missing_file_is_named(tmp_path):
    assert error_of(tmp_path / "no.yaml").startswith(f"{tmp_path / 'no.yaml'}: cannot be read: ")


def test_the_program_prints_one_line_and_writes_nothing(tmp_path, capsys):
    path = write(tmp_path, [ROW | {"level": "PERHAPS"}])
    ids = tmp_path / "ids.h"
    assert generate.main(["--ids", str(ids), str(path)]) == 1
    assert capsys.readouterr().err == f"ledger: {path}: RFC8166-4.2.1-1: unknown level 'PERHAPS'\n"
    assert not ids.exists()


def test_text_survives_as_a_cpp_literal():
    assert generate._literal('a "b" \\ ??/ \u00a7\n') == '"a \\"b\\" \\\\ \\?\\?/ \\302\\247\\012"'


EXEMPTION = {"kind": "unseen", "why": "Nothing shows."}


def test_optional_fields_reach_the_table(tmp_path):
    other = ROW | {"id": "RFC8166-4.2.1-2"}
    exemption = {"kind": "restated", "role": "client", "by": [other["id"]], "why": "Twice."}
    path = write(tmp_path, [ROW | {"note": "Doubtful.", "exemption": exemption}, other])
    table = tmp_path / "table.cpp"
    assert generate.main(["--table", str(table), str(path)]) == 0
    written = table.read_text()
    assert '"Doubtful.",\n     {"restated", "client", "RFC8166-4.2.1-2", "Twice."}}' in written
    assert '"",\n     {"", "", "", ""}}' in written


@pytest.mark.parametrize(
    "exemption, problem",
    [
        ("Not observable.", "an exemption holds a kind and a why"),
        ({"kind": "unseen"}, "an exemption holds a kind and a why"),
        (EXEMPTION | {"why": ""}, "'why' is not a non-empty text"),
        (EXEMPTION | {"until": "2030"}, "unknown key 'until' in the exemption"),
        (EXEMPTION | {"kind": "boring"}, "unknown kind of exemption 'boring'"),
        (EXEMPTION | {"role": "sender"}, "'role' is client or server, in a row that binds both"),
        (EXEMPTION | {"by": "RFC8166-4.2.1-2"}, "'by' is a list of ids"),
        (
            EXEMPTION | {"kind": "restated"},
            "a restated row names the rows whose cases are its cases",
        ),
    ],
)
def test_a_wrong_exemption_is_named(tmp_path, exemption, problem):
    path = write(tmp_path, [ROW | {"exemption": exemption}])
    assert error_of(path) == f"{path}: RFC8166-4.2.1-1: {problem}"


def test_an_exemption_of_one_role_is_for_rows_that_bind_two(tmp_path):
    row = ROW | {"role": "server", "exemption": EXEMPTION | {"role": "server"}}
    assert "in a row that binds both" in error_of(write(tmp_path, [row]))
    of_a_read = ROW | {"role": "requester", "exemption": EXEMPTION | {"role": "server"}}
    row = of_a_read | {"subject": "iwarp"}
    assert len(generate.load_all([write(tmp_path, [row])])) == 1
    row = ROW | {"exemption": EXEMPTION | {"role": "server"}}
    assert len(generate.load_all([write(tmp_path, [row])])) == 1


def test_an_unobservable_row_needs_an_exemption(tmp_path):
    row = ROW | {"observable": "not-observable on the wire."}
    assert error_of(write(tmp_path, [row])).endswith("not observable, but without an exemption")
    assert len(generate.load_all([write(tmp_path, [row | {"exemption": EXEMPTION}])])) == 1


def test_what_stands_instead_exists_and_has_to_have_cases(tmp_path):
    other = ROW | {"id": "RFC8166-4.2.1-2"}
    restated = {"kind": "restated", "by": [other["id"]], "why": "Twice."}
    unknown = write(tmp_path, [ROW | {"exemption": restated}])
    assert error_of(unknown) == (
        "RFC8166-4.2.1-1: RFC8166-4.2.1-2, which stands instead, is not in the ledger"
    )
    exempt = write(tmp_path, [ROW | {"exemption": restated}, other | {"exemption": EXEMPTION}])
    assert error_of(exempt) == (
        "RFC8166-4.2.1-1: RFC8166-4.2.1-2, which stands instead, is exempt itself"
    )
    half = EXEMPTION | {"role": "client"}
    rows = [ROW | {"exemption": restated}, other | {"exemption": half}]
    assert len(generate.load_all([write(tmp_path, rows)])) == 1
