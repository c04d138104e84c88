"""What was acknowledged has to be there, what was in flight may be, and what is half is told."""

from lab.power.journal import Act, Journal
from lab.power.tree import Directory, File, Link, Tree

ACKNOWLEDGED = 100  # octets of the log


def tree(**objects):
    made = Tree()
    made.objects.update(objects)
    return made


def create(path, mode=0o644):
    return Act(f"CREATE {path}", path, lambda tree: tree.objects.update({path: File(mode)}))


def write(path, offset, data, stable):
    def begin(tree):
        tree.objects[path].pending.append((offset, data))

    def apply(tree):
        begin(tree)
        if stable:
            tree.objects[path].settle()

    return Act("WRITE", path, apply, begin)


def commit(path):
    return Act("COMMIT", path, lambda tree: tree.objects[path].settle())


def rename(path, to):
    return Act("RENAME", to, lambda tree: tree.objects.update({to: tree.objects.pop(path)}))


def journal(*acts):
    """Act n is acknowledged when the log has n + 1 hundred octets."""
    made = Journal("dir")
    for number, act in enumerate(acts, 1):
        made.acknowledge(act, number * ACKNOWLEDGED)
    return made


def at(number):
    """The log's length when so many acts were acknowledged."""
    return number * ACKNOWLEDGED


def file(content=b"", mode=0o644):
    return File(mode, bytearray(content))


def test_what_was_acknowledged_is_there():
    made = journal(create("f"), write("f", 0, b"text", stable=True))
    assert made.losses(tree(f=file(b"text")), at(2)) == []
    (loss,) = made.losses(tree(f=file()), at(2))
    assert loss == "dir/f has 0 octets instead of 4 (acknowledged last: WRITE)"
    (loss,) = made.losses(tree(f=file(b"tExt")), at(2))
    assert "octet 0x45 at 1 instead of 0x65" in loss
    assert "f is missing" in made.losses(tree(), at(2))[0]


def test_the_reply_counts_from_the_octet_on_at_which_it_came():
    made = journal(create("f"), create("g"))
    assert made.losses(tree(), at(1) - 1) == []
    assert made.losses(tree(), at(1)) != []


def test_a_call_in_flight_may_be_done_or_not_but_not_the_one_after_it():
    made = journal(create("f"), create("g"), create("h"))
    assert made.losses(tree(f=file()), at(1)) == []
    assert made.losses(tree(f=file(), g=file()), at(1)) == []
    (loss,) = made.losses(tree(f=file(), g=file(), h=file()), at(2) - 1)[-1:]
    assert "dir/h is there" in loss or "dir/g is there" in loss
    assert made.losses(tree(f=file(), h=file()), at(1)) != []


def test_only_what_is_being_made_may_have_any_mode():
    made = journal(create("f"), create("g"))
    assert made.losses(tree(f=file(), g=file(mode=0o600)), at(1)) == []
    (loss,) = made.losses(tree(f=file(), g=file(mode=0o600)), at(2))
    assert "g has mode 0600 instead of 0644" in loss
    assert made.losses(tree(f=file(mode=0o600), g=file()), at(1)) != []


def test_a_rename_in_flight_leaves_one_name():
    made = journal(create("f"), rename("f", "g"))
    for name in ("f", "g"):
        assert made.losses(tree(**{name: file()}), at(1)) == []
    assert made.losses(tree(f=file(), g=file()), at(1)) != []
    assert made.losses(tree(), at(1)) != []


def test_unstable_octets_may_be_there_until_they_are_committed():
    acts = [create("f"), write("f", 0, b"aaaa", True), write("f", 2, b"bbbb", False), commit("f")]
    made = journal(*acts)
    for content in (b"aaaa", b"aabb", b"aaab", b"aabbbb", b"aaaa\0b"):
        assert made.losses(tree(f=file(content)), at(3)) == [], content
    for content in (b"aacc", b"bbaa", b"aab", b"aabbbbb", b"\0\0aa"):
        assert made.losses(tree(f=file(content)), at(3)) != [], content
    assert made.losses(tree(f=file(b"aabbbb")), at(4)) == []
    assert made.losses(tree(f=file(b"aaaa")), at(4)) != []


def test_two_names_of_one_file():
    link = Act("LINK g", "g", lambda tree: tree.objects.update(g=tree.objects["f"]))
    made = journal(create("f"), link, write("g", 0, b"x", True))
    assert made.losses(tree(f=file(b"x"), g=file(b"x")), at(3)) == []
    assert made.losses(tree(f=file(), g=file(b"x")), at(3)) != []


def test_types_texts_and_what_nothing_made():
    made = journal(
        Act("SYMLINK l", "l", lambda tree: tree.objects.update(l=Link("to"))),
        Act("MKDIR d", "d", lambda tree: tree.objects.update(d=Directory(0o755))),
    )
    assert made.losses(tree(l=Link("to"), d=Directory(0o755)), at(2)) == []
    assert "points to t" in made.losses(tree(l=Link("t"), d=Directory(0o755)), at(2))[0]
    assert "has mode 0700" in made.losses(tree(l=Link("to"), d=Directory(0o700)), at(2))[0]
    assert (
        "is a File instead of a Link" in made.losses(tree(l=file(), d=Directory(0o755)), at(2))[0]
    )
    assert "x is there" in made.losses(tree(l=Link("to"), d=Directory(0o755), x=file()), at(2))[0]
