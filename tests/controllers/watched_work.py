"""What hooks and movers really do to a namespace, whoever asked for it: told by them, not by what is stored."""

from tidegate.model.transfers.mover_job import DownloadJob, RemoveJob
from tidegate.testing.doubles.hooks import LoggedHooks
from tidegate.testing.doubles.movers import FakeMovers


class WatchedWork:
    """No application is frozen, thawed, read or written while another request has frozen, reads or writes it."""

    def __init__(self):
        self.hooks = LoggedHooks()
        self.ended_movers = []
        self._frozen_by = {}
        """By namespace, from the beginning of a freeze to the end of its thaw."""

    def at_work(self, movers: FakeMovers):
        """Movers that have not said their last words."""
        return [mover for mover in movers.started if mover not in self.ended_movers and not _over(mover)]

    def end(self, mover, *, well=True):
        self.ended_movers.append(mover)
        mover.finish(size=1) if well else mover.fail("SourceUnreadable", "the disk is gone")

    def end_removals(self, movers: FakeMovers):
        for mover in self.at_work(movers):
            if isinstance(mover.job, RemoveJob):
                self.end(mover)

    def set_stubborn(self, movers: FakeMovers, *, stubborn):
        for mover in self.at_work(movers):
            mover.stubborn = stubborn or mover.cancelled  # one that was told to stop and goes on does not change

    def kill_those_that_do_not_stop(self, movers: FakeMovers):
        """As the host of real movers does seconds after they were told to stop."""
        for mover in self.at_work(movers):
            if mover.cancelled:
                self.ended_movers.append(mover)
                mover.fail("WorkCancelled", "killed")

    def check(self, movers: FakeMovers):
        for command, backup, namespace, what in self.hooks.log:
            assert self._frozen_by.get(namespace, backup) == backup, (command, backup, namespace, what)
            if (command, what) == ("thaw", "ended"):
                self._frozen_by.pop(namespace, None)
            else:
                self._frozen_by[namespace] = backup
        self.hooks.log.clear()
        busy: dict[str, object] = {}
        for job in [mover.job for mover in self.at_work(movers)]:
            removes = isinstance(job, RemoveJob)
            if job.only_unfinished if removes else not job.path.startswith("/data/"):
                continue  # what a failed upload left is cleared away beside others; a restore to a place of its own
            namespace = job.store_volume.partition(".")[0] if removes else job.path.split("/")[2]
            assert namespace not in busy, (namespace, job, busy[namespace])
            busy[namespace] = job
            assert not isinstance(job, DownloadJob) or namespace not in self._frozen_by, namespace


def _over(mover):
    return mover.cancelled and not mover.stubborn
