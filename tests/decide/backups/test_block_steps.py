"""What a block does next."""

from hypothesis import given
from hypothesis import strategies as st

from tidegate.decide.backups.block_hooks import HookFailure, StageResult
from tidegate.decide.backups.block_steps import BlockSight, next_steps
from tidegate.decide.backups.slot_lifetime import may_leave_slot, needs_live_data
from tidegate.model.backups.hooks import BackupHooks, ExecHook, Hook, HookStage, OnError, ResourceHooks
from tidegate.model.backups.item_block import BlockPhase, BlockProgress, HookCall
from tidegate.model.transfers.transfer import DataUpload, PodVolumeBackup, TransferPhase
from tidegate.testing.resources.builders import a_transfer

B, T = BlockPhase, TransferPhase
PRE, POST = HookStage.PRE, HookStage.POST
HOOKS = BackupHooks(
    resources=(
        ResourceHooks(
            name="db", pre=(Hook(exec=ExecHook(command=("freeze",))),), post=(Hook(exec=ExecHook(command=("thaw",))),)
        ),
    )
)


def a_block(*volumes, phase=B.PENDING, hooked=False, one_by_one=False):
    calls = (HookCall(hook=0, namespace="ns", volumes=volumes),) if hooked else ()
    return BlockProgress(volumes=volumes, phase=phase, hooks=calls, one_by_one=one_by_one)


def steps(*blocks, uploads=None, results=None, workers=1, **more):
    found = {name: a_transfer(name.replace("/", "-"), phase) for name, phase in (uploads or {}).items()}
    sight = BlockSight(hooks=HOOKS, uploads=found, results=results or {}, workers=workers, **more)
    return next_steps(blocks, None, sight)


def phases(made):
    return [(block.volumes[0], block.phase) for block in made.blocks]


def failed(on_error):
    return StageResult(1, (HookFailure("it broke", on_error),))


def test_no_more_blocks_begin_than_there_are_workers():
    made = steps(a_block("a"), a_block("b"), a_block("c"), workers=2)

    assert phases(made) == [("a", B.MOVING), ("b", B.MOVING), ("c", B.PENDING)]
    assert made.upload == ["a", "b"]


def test_a_worker_that_becomes_free_takes_the_next_block_at_once():
    made = steps(a_block("a", phase=B.MOVING), a_block("b"), uploads={"a": T.COMPLETED})

    assert phases(made) == [("b", B.MOVING)]


def test_nothing_is_read_before_the_pre_hooks_have_ended():
    made = steps(a_block("a", hooked=True))

    assert (phases(made), made.upload) == ([("a", B.PRE_HOOKS)], [])
    assert [(block.volumes, stage) for block, stage in made.run] == [(("a",), PRE)]


def test_after_good_pre_hooks_all_volumes_of_a_block_are_uploaded_together():
    made = steps(a_block("a", "b", phase=B.PRE_HOOKS, hooked=True), results={("a", PRE): StageResult(1)})

    assert (phases(made), made.upload, made.counted) == ([("a", B.MOVING)], ["a", "b"], [("a", PRE)])
    assert made.hook_status.hooks_attempted == 1


def test_a_pre_hook_that_fails_keeps_the_volumes_out_but_the_post_hooks_run():
    made = steps(a_block("a", "b", phase=B.PRE_HOOKS, hooked=True), results={("a", PRE): failed(OnError.FAIL)})

    assert (phases(made), made.upload) == ([("a", B.POST_HOOKS)], [])
    assert made.refuse == {"a": "it broke", "b": "it broke"}
    assert [stage for _, stage in made.run] == [POST]


def test_a_pre_hook_that_may_fail_is_a_warning():
    made = steps(a_block("a", phase=B.PRE_HOOKS, hooked=True), results={("a", PRE): failed(OnError.CONTINUE)})

    assert (phases(made), made.refuse) == ([("a", B.MOVING)], {})
    assert (made.hook_status.warnings, made.hook_status.errors, made.hook_status.hooks_failed) == (1, 0, 1)


def test_post_hooks_wait_for_the_last_upload_and_run_also_if_it_failed():
    block = a_block("a", "b", phase=B.MOVING, hooked=True)

    assert phases(steps(block, uploads={"a": T.FAILED, "b": T.IN_PROGRESS})) == [("a", B.MOVING)]
    assert phases(steps(block, uploads={"a": T.FAILED, "b": T.CANCELED})) == [("a", B.POST_HOOKS)]


def test_a_post_hook_that_fails_is_an_error_and_the_block_is_done():
    made = steps(a_block("a", phase=B.POST_HOOKS, hooked=True), results={("a", POST): failed(OnError.FAIL)})

    assert (made.blocks, made.hook_status.errors, made.hook_status.problems) == ([], 1, ("it broke",))


def test_ordered_volumes_go_one_after_the_other():
    block = a_block("a", "b", "c", phase=B.MOVING, one_by_one=True)

    assert steps(block).upload == ["a"]
    assert steps(block, uploads={"a": T.IN_PROGRESS}).upload == []
    assert steps(block, uploads={"a": T.FAILED}).upload == ["b"]


def test_a_volume_that_is_gone_is_not_waited_for():
    made = steps(a_block("a", "b", phase=B.MOVING), uploads={"b": T.COMPLETED}, gone=frozenset({"a"}))

    assert made.blocks == []


def test_a_backup_that_is_called_off_begins_nothing_and_releases_what_is_frozen():
    made = steps(
        a_block("freezing", phase=B.PRE_HOOKS, hooked=True),
        a_block("read", phase=B.MOVING, hooked=True),
        a_block("stopping", phase=B.MOVING, hooked=True),
        a_block("never", hooked=True),
        uploads={"read": T.CANCELED, "stopping": T.CANCELING},
        workers=9,
        ending=True,
    )

    assert phases(made) == [("freezing", B.PRE_HOOKS), ("read", B.POST_HOOKS), ("stopping", B.MOVING)]
    assert made.stop == [("freezing", PRE)]
    assert [(block.volumes, stage) for block, stage in made.run] == [(("read",), POST)]
    assert made.upload == []


def test_uploads_that_do_not_stop_in_time_no_longer_keep_post_hooks_waiting():
    moving = a_block("stuck", phase=B.MOVING, hooked=True)

    waits = steps(moving, uploads={"stuck": T.CANCELING}, ending=True)
    released = steps(moving, uploads={"stuck": T.CANCELING}, ending=True, overdue=True)

    assert (phases(waits), waits.run) == ([("stuck", B.MOVING)], [])
    assert phases(released) == [("stuck", B.POST_HOOKS)]
    assert [(block.volumes, stage) for block, stage in released.run] == [(("stuck",), POST)]


block_strategy = st.builds(
    lambda name, phase, hooked: a_block(f"v{name}", phase=phase, hooked=hooked),
    st.integers(0, 10**6),
    st.sampled_from(list(B)),
    st.booleans(),
)
crowds = st.lists(block_strategy, max_size=8, unique_by=lambda block: block.volumes)


@given(crowds, st.integers(1, 4), st.booleans(), st.dictionaries(st.integers(0, 7), st.sampled_from(list(T))))
def test_no_block_begins_beyond_the_workers_and_none_is_lost(crowd, workers, ending, phases_by_place):
    uploads = {block.volumes[0]: phases_by_place[i] for i, block in enumerate(crowd) if i in phases_by_place}
    made = steps(*crowd, uploads=uploads, workers=workers, ending=ending)

    before = sum(block.under_way for block in crowd)
    assert sum(block.under_way for block in made.blocks) <= max(before, workers)
    kept = {block.volumes for block in made.blocks}
    hooked_under_way = {block.volumes for block in crowd if block.under_way and block.hooks}
    assert hooked_under_way <= kept, "hooks had no result, so a block that has post hooks cannot be done"
    if ending:
        assert made.upload == []
        assert all(block.under_way for block in made.blocks)


@given(crowds, st.integers(1, 4), st.booleans())
def test_a_step_after_a_step_changes_nothing(crowd, workers, ending):
    once = steps(*crowd, workers=workers, ending=ending)
    again = steps(*once.blocks, workers=workers, ending=ending)

    assert (again.blocks, again.run, again.stop, again.upload) == (once.blocks, once.run, once.stop, once.upload)


def test_a_slot_is_kept_as_long_as_live_data_is_read():
    tree = a_transfer("tree", T.IN_PROGRESS, kind=PodVolumeBackup)
    live = a_transfer("live", T.IN_PROGRESS, kind=DataUpload)
    snapshot = live.with_status(from_snapshot=True)
    untaken = a_transfer("untaken", T.ACCEPTED, kind=DataUpload).with_status(from_snapshot=True)

    assert [needs_live_data(upload) for upload in (tree, live, snapshot, untaken)] == [True, True, False, True]
    assert not needs_live_data(tree.with_status(phase=T.FAILED))
    assert not needs_live_data(tree.with_status(phase=T.COMPLETED))
    assert needs_live_data(tree.with_status(from_snapshot=True)), "a file tree is always read live"
    assert may_leave_slot([snapshot, tree.with_status(phase=T.COMPLETED)])
    assert not may_leave_slot([snapshot, tree])


@given(crowds, st.lists(st.sampled_from(list(T)), min_size=8, max_size=8))
def test_no_post_hook_is_ever_skipped_because_uploads_do_not_stop(crowd, found):
    """Once the time is over each block that may have frozen something is at its post hooks."""
    uploads = {block.volumes[0]: phase for block, phase in zip(crowd, found, strict=False)}
    stopped = {(block.volumes[0], PRE): StageResult() for block in crowd if block.phase is B.PRE_HOOKS}
    made = steps(*crowd, uploads=uploads, results=stopped, ending=True, overdue=True)

    owed = {block.volumes for block in crowd if block.under_way and block.hooks}
    assert {block.volumes for block, stage in made.run if stage is POST} == owed
    assert {block.volumes for block in made.blocks} == owed
