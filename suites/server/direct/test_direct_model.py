"""Two users of direct access beside a model of the file: no valid frame ever differs from it (docs/direct-access.md)."""

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule
import pytest

from steertag.properties.state_machine import ScriptedMachine, SEEDS
from steertag.suite import case
from . import direct_model
from .direct_model import BLOCKS, DirectModel, expect_content, ModelledFile
from ..direct_user import DirectUser

FRESH, OWN, REGISTERED, ZEROS = "ODAFS-9", "ODAFS-7", "ODAFS-26", "ODAFS-32"
NEEDS = ["direct-access"]
OCTETS = 1000
STEPS = 150
MOST_WRITTEN = 2048
# Trials of the property, and steps of one.
TRIALS, TRIAL_STEPS = 40, 20


@case("server.direct.model-{run}", requirements=[FRESH, OWN, REGISTERED, ZEROS], needs=NEEDS)
@pytest.mark.parametrize("run", range(4))
def test_model(bench, run):
    """A random sequence of changes by one client, and of grants and Reads by two others. A Read by any reference
    completes. A valid frame has what the file has at that place."""
    users = [DirectUser(bench), DirectUser(bench)]
    block = users[0].terms.block_bytes
    file = ModelledFile(bench, block, bench.random.randbytes(OCTETS))
    held = {user: {} for user in users}  # (offset, generation): reference
    for _ in range(STEPS):
        user = bench.random.choice(users)
        move = bench.random.choice(["change", "grant", "read", "read"])
        if move == "change":
            _change(bench.random, file, block)
        elif move == "grant":
            for each in user.references(file.file, BLOCKS):
                held[user][each.offset, each.generation] = each
                expect_content(user, each, file, ZEROS, is_new=True)
        elif held[user]:
            reference = bench.random.choice(list(held[user].values()))
            expect_content(user, reference, file, FRESH)


def _change(random, file, block):
    """A WRITE or another size, mostly near the border of a block."""
    place = random.choice([0, random.randrange(1, BLOCKS) * block])
    offset = max(0, place + random.randrange(-MOST_WRITTEN, MOST_WRITTEN))
    if random.random() < 0.3:
        file.resize(offset)
    else:
        file.store(offset, random.randbytes(random.randrange(1, MOST_WRITTEN)))


NUMBERS = st.integers(0, 1)
WHICH = st.integers(0, 9)
BLOCK_NUMBERS = st.integers(0, BLOCKS - 1)
# From the beginning of a block: mostly at its border.
DELTAS = st.sampled_from([-1, 0, 1]) | st.integers(-MOST_WRITTEN, MOST_WRITTEN)
LENGTHS = st.integers(1, MOST_WRITTEN)
WANTED = st.integers(1, BLOCKS)


class SharedReferences(ScriptedMachine):
    """Steps of a direct_model.DirectModel in any order."""

    def step(self, name, **arguments):
        fields = ", ".join(f"{key}={value}" for key, value in arguments.items())
        self.do(f"model.{name}({fields})")

    @initialize(seed=SEEDS, length=LENGTHS)
    def begin(self, seed, length):
        self.do(f"from {direct_model.__name__} import DirectModel")
        self.do(f"model = DirectModel(bench, {seed}, {length})")

    @precondition(lambda self: not self.over)
    @rule(block=BLOCK_NUMBERS, delta=DELTAS, length=LENGTHS, seed=SEEDS)
    def write(self, block, delta, length, seed):
        self.step("write", block=block, delta=delta, length=length, seed=seed)

    @precondition(lambda self: not self.over)
    @rule(block=BLOCK_NUMBERS, delta=DELTAS)
    def resize(self, block, delta):
        self.step("resize", block=block, delta=delta)

    @precondition(lambda self: not self.over)
    @rule(mode=st.sampled_from([direct_model.OPEN_MODE, direct_model.PRIVATE_MODE]))
    def set_mode(self, mode):
        self.step("set_mode", mode=oct(mode))

    @precondition(lambda self: not self.over)
    @rule(seed=SEEDS, length=LENGTHS)
    def replace(self, seed, length):
        self.step("replace", seed=seed, length=length)

    @precondition(lambda self: not self.over)
    @rule(number=NUMBERS, block=BLOCK_NUMBERS, want=WANTED)
    def grant(self, number, block, want):
        self.step("grant", number=number, block=block, want=want)

    @precondition(lambda self: not self.over)
    @rule(number=NUMBERS, block=BLOCK_NUMBERS, delta=DELTAS, count=st.integers(0, 200), want=WANTED)
    def read_by_rpc(self, number, block, delta, count, want):
        self.step("read_by_rpc", number=number, block=block, delta=delta, count=count, want=want)

    @precondition(lambda self: not self.over)
    @rule(number=NUMBERS, which=WHICH)
    def give_back(self, number, which):
        self.step("give_back", number=number, which=which)

    @precondition(lambda self: not self.over)
    @rule(number=NUMBERS, which=WHICH)
    def read_returned(self, number, which):
        self.step("read_returned", number=number, which=which)

    @precondition(lambda self: not self.over)
    @rule(number=NUMBERS)
    def start_again(self, number):
        self.step("start_again", number=number)


@case(
    "server.property.references",
    requirements=DirectModel.REQUIREMENTS,
    needs=NEEDS,
    hostile=True,
)
def test_shared_references(explorer):
    """The owner of a file and a stranger hold references while others write, cut, replace and close the file. A valid
    frame has what the file has, and none shows a file that its user may not read."""
    explorer.conversations(SharedReferences, TRIALS, TRIAL_STEPS)
