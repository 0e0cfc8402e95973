"""What happens in the demo, in order."""

import shutil
import sys
import time

from tidegate.app.demo.board import show_until_done
from tidegate.app.demo.sample import VOLUMES, fingerprint, make_sample
from tidegate.app.demo.stage import Stage, a_stage

# Name and namespaces; overlapping ones wait for each other, disjoint ones run together.
BACKUPS = (
    ("shop-only", "shop"),
    ("blog-only", "blog"),
    ("shop-blog", "shop,blog"),
    ("wiki-only", "wiki"),
    ("everything", "shop,blog,wiki"),
)

_READING_SECONDS = 3.0


def run_demo() -> int:
    """Tell the story; 0 if every byte came back."""
    began = time.monotonic()
    try:
        with a_stage() as stage:
            same = _play(stage)
    except KeyboardInterrupt:
        sys.stdout.write("\nStopped; everything the demo made is gone.\n")
        return 130
    _say(f"That took {time.monotonic() - began:.0f} s. The server, the store and the sample data are gone again.")
    return 0 if same else 1


def _play(stage: Stage) -> bool:
    _say("Three applications live on this machine: a shop, a blog and a wiki.")
    make_sample(stage.data)
    before = fingerprint(stage.data)
    _say(f"{len(before)} files and directories. A server runs already; first it learns what there is to protect.")
    stage.type("target", "create", "disk", str(stage.store))
    for namespace, volume, kind in VOLUMES:
        stage.type("volume", "create", volume, "-n", namespace, f"--{kind}", str(stage.data / namespace / volume))
    _say("Two backups may run at once, but never two on the same namespace. Five people ask at the same time.")
    stage.type("setting", "set", "concurrent-backups", "2")
    stage.type("setting", "set", "load-concurrency", '{"globalConfig": 3}')
    stage.type("setting", "set", "item-block-worker-count", "3")
    for name, namespaces in BACKUPS:
        stage.type("backup", "create", name, "--include-namespaces", namespaces)
    _say("The queue, live:")
    with stage.client() as client:
        show_until_done(client, total=len(BACKUPS))
    stage.type("backup", "get")
    _say("Now the disaster: all of it is deleted.")
    shutil.rmtree(stage.data)
    sys.stdout.write(f"$ ls {stage.data}\nls: no such directory\n")
    _say("And back again.")
    stage.type("restore", "create", "comeback", "--from-backup", "everything", "--wait")
    after = fingerprint(stage.data)
    different = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    if different:
        _say(f"{len(different)} entries differ, such as {min(different)}. That should not happen.")
        return False
    _say(f"All {len(after)} files and directories are back, with the same checksums, modes and times.")
    return True


def _say(sentence: str) -> None:
    sys.stdout.write(f"\n== {sentence}\n")
    sys.stdout.flush()
    if sys.stdout.isatty():
        time.sleep(_READING_SECONDS)  # a person reads along; a pipe does not
