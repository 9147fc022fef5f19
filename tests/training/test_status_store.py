"""The store of the ranks: where it listens, and that it takes no word from strangers."""

import random
from pathlib import Path

import pytest
from torch.distributed import TCPStore

from counterpoint.training.watchdog.status import RankStatus
from counterpoint.training.watchdog.status_store import BYTES, Seal, StatusStore, _listening
from counterpoint.training.watchdog.watch import LOST


def listening_on(port):
    """The addresses on which a port of this machine is open, in hexadecimal, as the system says."""
    found = set()
    for file in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(file).read_text().splitlines()[1:]:
            local, state = line.split()[1], line.split()[3]
            address, _, number = local.partition(":")
            if int(number, 16) == port and state == "0A":
                found.add(address)
    return found


@pytest.fixture
def store():
    listening = _listening("127.0.0.1")
    port = listening.getsockname()[1]
    return TCPStore("127.0.0.1", port, None, is_master=True, master_listen_fd=listening.detach())


def test_ranks_of_one_machine_meet_on_the_loopback_alone(store):
    assert listening_on(store.port) == {"0100007F"}


def test_an_address_that_is_not_of_this_machine_is_listened_to_on_all():
    listening = _listening("192.0.2.1")  # of documentation: nobody has it
    assert listening.getsockname()[0] == "0.0.0.0"
    listening.close()


def test_a_stranger_is_not_believed(store):
    meeting = StatusStore(store, Seal(b"k" * BYTES))
    stranger = TCPStore("127.0.0.1", store.port, None, is_master=False)
    meeting.say("sign/1", RankStatus(tick=3).write())
    sealed = stranger.get("sign/1")  # it waits until the word has arrived
    assert "sign/1" in stranger.list_keys()  # names are not secret; words of the ranks are theirs
    chance = random.Random(0)
    forged = [b"", b"1 rank 0 is lost", b"x" * 1000, sealed, chance.randbytes(40)]
    forged += [Seal(b"another key......").closed(LOST, b"1 rank 0 is lost")]
    for words in forged:
        stranger.set(LOST, words)
        assert stranger.get(LOST) == words  # it has arrived
        assert meeting.heard_of(LOST) is None, words
    meeting.say(LOST, b"1 rank 2 is lost")
    assert meeting.heard_of(LOST) == b"1 rank 2 is lost"


def test_what_a_stranger_writes_over_a_sign_is_no_sign(store):
    meeting = StatusStore(store, Seal(b"k" * BYTES))
    meeting.say("sign/1", RankStatus(tick=3).write())
    stranger = TCPStore("127.0.0.1", store.port, None, is_master=False)
    assert stranger.get("sign/1")
    stranger.set("sign/1", RankStatus(tick=4).write())
    assert stranger.get("sign/1") == RankStatus(tick=4).write()
    assert meeting.heard(["sign/1"]) == [None]
