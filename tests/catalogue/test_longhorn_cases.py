"""Longhorn's own test cases for lists, syncs, targets and backups: an index of the tests that set each of them up.

Nothing is proven here but that the index is true: that each test it names is there. The cases are those of its
end-to-end suites and manual plans: L1 to L22 about lists and syncs, G about when a sync is due, T about several
targets, B about backups.
"""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent.parent

PROOFS = {
    "L1 a thousand volumes and backups behind 750 ms per operation": "journeys/test_seed_test_plan.py::the_six_steps",
    "L2 1,001 backups of one volume": "catalogue/test_real_stores.py::more_backups_than_a_page_of_s3",
    "L2 a random one of 1,001 restores": "datapath/test_longhorn_cases.py::one_of_1001_backups_of_a_volume_restores",
    "L3 volumes of 250 and 200 GiB": "catalogue/test_nasty_stores.py::large_volumes_are_listed",
    "L3 a volume of 250 GiB restores": "datapath/test_longhorn_cases.py::a_volume_of_250_gib_comes_back",
    "L4 a junk file among the cfgs": "catalogue/test_nasty_stores.py::L4 ",
    "L5 volume.cfg renamed": "catalogue/test_nasty_stores.py::L5 ",
    "L5 volume.cfg renamed back": "catalogue/test_sync.py::a_volume_cfg_that_vanishes_is_told_and_found_again",
    "L6 a corrupt cfg is listed with its error": "catalogue/test_nasty_stores.py::L6 ",
    "L6 a corrupt cfg cannot be inspected": "cli/backups/test_longhorn.py::a_damaged_cfg_is_listed_by_its_name",
    "L6 a corrupt cfg can be deleted": "datapath/maintenance/test_remove.py::whose_cfg_is_damaged_can_be_removed",
    "L7 a renamed cfg": "catalogue/test_nasty_stores.py::L7 ",
    "L7 the others restore": "datapath/test_longhorn_cases.py::when_a_cfg_is_renamed_the_others",
    "L8 without volume.cfg a volume goes": "datapath/maintenance/test_remove_volume.py::it_goes_without_a_volume_cfg",
    "L9 a deleted backup is gone": "api/routes/test_backupvolumes.py::a_deleted_backup_is_gone_from_the_list",
    "L9 a deleted volume is gone": "api/routes/test_backupvolumes.py::a_deleted_volume_is_gone_from_every_list",
    "L10 deleted in the store itself": "catalogue/test_sync.py::what_was_deleted_in_the_store_is_gone",
    "L11 backups of another cluster": "catalogue/test_real_stores.py::a_store_of_longhorn_is_listed",
    "L11 they restore": "datapath/test_golden_stores.py::a_backup_of_longhorn_restores_to_the_same_bytes",
    "L12 no target any more": "journeys/test_catalogue_lists.py::a_target_that_is_deleted_takes_its_lists_along",
    "L13 from one store to another and back": "catalogue/test_nasty_stores.py::lists_follow_the_store",
    "L14 credentials that are wrong": "catalogue/test_sync.py::refused_credentials_end_the_sync_and_keep",
    "L14 the target says so": "controllers/test_longhorn_cases.py::a_target_that_cannot_be_used_says_why",
    "L15 set while the store is away": "controllers/stores/test_catalogue_sync.py::was_set_while_its_store_was_away",
    "L16 a backup to a target that is away": "controllers/backups/test_life.py::a_store_that_is_down_holds_the_queue",
    "L16 the target says why": "controllers/test_longhorn_cases.py::a_target_that_cannot_be_used_says_why",
    "L17 backing images beside backups": "catalogue/test_nasty_stores.py::L17 ",
    "L17 a store that holds a system backup": "controllers/system/test_backup_life.py::one_that_was_found_in_a_store",
    "L17 a system backup is found": "controllers/system/test_schedules.py::what_another_machine_wrote_is_found",
    "L18 a store that takes too long": "objects/test_readers.py::the_time_for_an_answer_is_named",
    "L19 a share that goes and comes": "app/processes/test_catalogue_runner.py::a_store_that_vanished_is_unavailable",
    "L21 no pile-up at a slow share": "objects/test_readers.py::questions_to_a_share_that_hangs_do_not_pile_up",
    "L22 sync of all and of one": "api/longhorn/test_client.py::it_asks_for_syncs_of_volumes_and_targets",
    "L22 again within ten seconds": "controllers/stores/test_catalogue_sync.py::asked_for_again_and_again_is_no_storm",
    "G when a sync is due": "decide/stores/test_sync_schedule.py::a_sync_is_due_for_a_reason",
    "T an extra target is deleted and comes back": "journeys/test_catalogue_lists.py::takes_its_lists_along",
    "T an unknown target": "api/test_bad_input.py::a_bad_backup_is_refused_when_it_is_submitted",
    "T another URL": "catalogue/test_nasty_stores.py::lists_follow_the_store",
    "T a URL that does not answer": "controllers/stores/test_catalogue_sync.py::a_store_that_is_down_for_an_hour",
    "T an empty URL": "api/longhorn/test_client.py::a_target_without_a_url_is_refused",
    "T a volume in two targets": "catalogue/test_sync.py::two_targets_do_not_know_of_each_other",
    "T both restore": "datapath/test_longhorn_cases.py::a_volume_that_is_backed_up_to_two_targets_restores",
    "T a system backup and a lost machine": "journeys/test_disaster.py::everything_comes_back_byte_for_byte",
    "B backup, restore, delete": "journeys/test_first_journey.py::what_was_destroyed_comes_back_byte_for_byte",
    "B labels": "catalogue/test_sync.py::what_is_in_the_store_is_in_the_catalogue_after_one_sync",
    "B who writes dies": "controllers/test_longhorn_cases.py::when_the_mover_dies_the_backup_fails",
    "B everything is killed": "journeys/test_kills.py::a_backup_whose_server_is_killed_ends_honestly",
    "B delete beside an unfinished cfg": "faults/test_known_losses.py::no_block_is_deleted_while_a_backup",
    "B delete during its restore": "controllers/stores/test_deletion.py::what_a_restore_reads_cannot_be_deleted",
    "B delete older, newer in progress": "datapath/test_longhorn_cases.py::an_older_backup_is_deleted_while",
    "B backup while a delete runs": "datapath/test_longhorn_cases.py::a_backup_is_asked_for_while_another_is",
    "B restore older, newer is deleted": "datapath/test_longhorn_cases.py::an_older_backup_is_restored_while",
    "B a delete that fails": "controllers/stores/test_deletion.py::a_failed_delete_is_tried_again_later_and_later",
    "B killed while it deletes": "journeys/test_seed_test_plan.py::a_restart_brings_nothing_back",
    "B several backups at once": "datapath/test_longhorn_cases.py::six_backups_of_two_volumes_at_once",
    "B an older snapshot later": "datapath/test_longhorn_cases.py::what_was_there_before_is_backed_up_after",
    "B restore of a corrupt cfg": "datapath/downloads/test_download.py::whose_cfg_is_damaged_is_refused",
    "B a lost block": "datapath/downloads/test_download.py::a_missing_block_is_named_with_everything",
    "B a full backup mends it": "datapath/test_longhorn_cases.py::a_lost_block_fails_the_restore_and",
    "B failed ones go after a while": "decide/schedules/test_retention.py::what_did_not_end_well_uses_up_no_place",
    "B a new backup of somebody else": "journeys/test_catalogue_lists.py::a_new_backup_is_seen_when_somebody_asks",
    "B the last one goes": "datapath/maintenance/test_remove.py::the_volume_points_to_the_newest_backup_that_is_left",
    "B all are deleted": "datapath/maintenance/test_remove.py::the_last_backup_leaves_an_empty_volume",
    "B compression": "datapath/uploads/test_upload_modes.py::a_new_volume_gets_the_compression_that_is_asked_for",
    "B blocks of 16 MiB": "datapath/uploads/test_upload_modes.py::a_new_volume_may_have_blocks_of_16_mib",
    "B the snapshot goes with the backup": "volumes/images/test_snapshots.py::is_gone_with_its_source",
    "B restore from a wrong URL": "api/routes/test_restores.py::what_cannot_be_restored_is_refused_at_once",
    "B those made by hand stay": "controllers/test_longhorn_cases.py::a_backup_made_by_hand_stays",
}
# What has no counterpart here, and why.
WITHOUT = {
    "L20 cordoned nodes": "lists come from the server, whichever nodes there are",
    "T the target `default` is deleted": "no target is built in; one that backups refer to is refused",
    "T a standby volume is in the way": "there are no standby volumes",
    "T uninstall": "deleting a target never touches its store, see L12",
}


@pytest.mark.parametrize("proof", PROOFS.values(), ids=PROOFS)
def test_each_case_has_a_test_that_shows_it(proof):
    file, _, words = proof.partition("::")
    text = (TESTS / file).read_text()

    named = re.search(rf'def test_\w*{words}|"{words}', text)

    assert named, f"no test in tests/{file} is called like {words!r}"


def test_no_case_is_forgotten():
    cases = {case.split()[0] for case in (*PROOFS, *WITHOUT)}

    assert {f"L{number}" for number in range(1, 23)} <= cases
