from dataclasses import dataclass, field

import pytest

from tidegate.errors import InvalidInput, Refused, StoreUnavailable
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.objects.mount_plan import MountPlan, mounted_source, plan_mount
from tidegate.objects.mounts import mounted

DEFAULTS = "actimeo=1,soft,timeo=300,retry=2"
NFS_ATTEMPTS = tuple(f"nfsvers={version},{DEFAULTS}" for version in ("4.2", "4.1", "4.0"))
LOGIN = {"CIFS_USERNAME": "ann", "CIFS_PASSWORD": "hush"}
PLANS = [
    ("nfs", "nas.lan:/export/b", {}, MountPlan("nas.lan:/export/b", "nas_lan/export/b", "mount.nfs4", NFS_ATTEMPTS)),
    ("nfs", "nas:/e/?nfsOptions=hard%2Cro", {}, MountPlan("nas:/e", "nas/e", "mount.nfs4", ("hard,ro",))),
    ("nfs", "nas:/e?nfsOptions=a&nfsOptions=b", {}, MountPlan("nas:/e", "nas/e", "mount.nfs4", ("a,b",))),
    ("cifs", "nas/share", {}, MountPlan("//nas/share", "nas/share", "mount.cifs", ("soft",))),
    (
        *("cifs", "nas/share/deep?cifsOptions=vers=3.0", LOGIN),
        MountPlan(
            *("//nas/share/deep", "nas/share/deep", "mount.cifs", ("vers=3.0",)), {"USER": "ann", "PASSWD": "hush"}
        ),
    ),
]


@dataclass
class FakeRunner:
    root: bool = True
    mounts: str = ""
    failures: dict = field(default_factory=dict)
    ran: list = field(default_factory=list)

    def may_mount(self, helper):
        return self.root

    def mountinfo(self):
        return self.mounts

    def run(self, words, *, environment, seconds):
        self.ran.append(words)
        return next((said for part, said in self.failures.items() if part in " ".join(words)), None)


def a_plan(rest="nas:/e"):
    return plan_mount("nfs", rest, {})


def mount_line(folder, source="nas:/e"):
    return f"36 35 98:0 / {folder} rw,noatime master:1 - nfs4 {source} rw,soft\n"


@pytest.mark.parametrize(("scheme", "rest", "credentials", "plan"), PLANS)
def test_a_url_becomes_the_commands_that_longhorn_would_use(scheme, rest, credentials, plan):
    assert plan_mount(scheme, rest, credentials) == plan


def test_a_password_is_no_argument_and_not_shown():
    plan = plan_mount("cifs", "nas/share", LOGIN)

    assert "hush" not in repr(plan) + "".join(plan.attempts)


@pytest.mark.parametrize(
    "rest", ["", "host:", "host:/", ":/e", "host:/a/../b", "-o:/e", "host:/-o", "h:/a b", "h:/a,b"]
)
def test_what_names_no_share_is_refused(rest):
    with pytest.raises(InvalidInput):
        a_plan(rest)


def test_versions_are_tried_from_the_newest_until_one_works(tmp_path):
    runner = FakeRunner(failures={"nfsvers=4.2": "not supported"})

    folder = mounted(a_plan(), runner, root=tmp_path)

    assert folder == str(tmp_path / "nas" / "e")
    assert [words[-1] for words in runner.ran] == list(NFS_ATTEMPTS[:2])


def test_a_share_that_cannot_be_mounted_is_unavailable_with_the_helpers_words(tmp_path):
    with pytest.raises(StoreUnavailable, match="access denied"):
        mounted(a_plan(), FakeRunner(failures={"mount.nfs4": "access denied by server"}), root=tmp_path)


def test_a_mount_that_is_there_and_answers_is_used_as_it_is(tmp_path):
    runner = FakeRunner(root=False, mounts=mount_line(tmp_path / "nas" / "e"))

    assert mounted(a_plan(), runner, root=tmp_path) == str(tmp_path / "nas" / "e")
    assert [words[0] for words in runner.ran] == ["stat"]


@pytest.mark.parametrize("source", ["nas:/e", "other:/e"])
def test_a_stale_mount_or_another_share_is_replaced(tmp_path, source):
    runner = FakeRunner(mounts=mount_line(tmp_path / "nas" / "e", source), failures={"stat": "Stale file handle"})

    mounted(a_plan(), runner, root=tmp_path)

    assert [words[0] for words in runner.ran][-2:] == ["umount", "mount.nfs4"]


def test_who_cannot_mount_is_told_how_to_help_themselves(tmp_path):
    with pytest.raises(Refused, match="needs root") as refused:
        mounted(a_plan(), FakeRunner(root=False), root=tmp_path)

    assert "file:///mnt/backups" in refused.value.hint


def test_the_last_mount_on_a_folder_counts_and_spaces_are_read():
    text = mount_line("/m/a\\040b", "one:/e") + mount_line("/m/a\\040b", "two:/e") + mount_line("/m", "x:/y")

    assert (mounted_source(text, "/m/a b"), mounted_source(text, "/other")) == ("two:/e", None)


def test_an_access_to_a_share_does_not_show_its_password():
    assert "hush" not in repr(TargetAccess(url="cifs://nas/share", credentials=LOGIN))
