"""What a server knows of locks in stores."""

from datetime import timedelta

from tidegate.decide.stores.known_locks import KnownLocks
from tidegate.model.transfers.mover_job import RemoveJob, TargetAccess
from tidegate.testing.resources.builders import THEN

VOLUME = ("file:///s", "v")


def a_job(volume="v", url="file:///s", **more):
    return RemoveJob(target=TargetAccess(url=url), store_volume=volume, store_backups=("b",), **more)


def knowledge(locks, job, *, after=0):
    told = locks.told(job, now=THEN + timedelta(seconds=after))
    return told.dead_locks, told.stale_locks


def test_the_lock_of_a_dead_mover_is_told_to_the_next_one_on_its_volume_until_it_is_gone():
    locks = KnownLocks()
    locks.owner_died(VOLUME, "lock-a")

    assert knowledge(locks, a_job()) == (("lock-a",), ())
    assert knowledge(locks, a_job("other")) == knowledge(locks, a_job(url="file:///t")) == ((), ())
    locks.done(locks.told(a_job(), now=THEN))
    assert knowledge(locks, a_job()) == ((), ())


def test_a_lock_that_was_met_is_stale_when_its_time_stands_still_for_longer_than_a_lock_lives():
    locks = KnownLocks()
    locks.met(VOLUME, "lock-a then", now=THEN)
    locks.met(VOLUME, "lock-a then", now=THEN + timedelta(seconds=140))

    assert knowledge(locks, a_job(), after=150) == ((), ())
    assert knowledge(locks, a_job(), after=151) == ((), ("lock-a then",))


def test_a_lock_that_was_written_anew_is_alive():
    locks = KnownLocks()
    locks.met(VOLUME, "lock-a then", now=THEN)
    locks.met(VOLUME, "lock-a later", now=THEN + timedelta(seconds=140))

    assert knowledge(locks, a_job(), after=200) == ((), ())


def test_dropping_dead_locks_says_nothing_of_what_is_in_the_way():
    locks = KnownLocks()
    locks.met(VOLUME, "lock-a then", now=THEN)
    locks.done(a_job(only_dead_locks=True))

    assert knowledge(locks, a_job(), after=151) == ((), ("lock-a then",))
