"""The formula's volumes as a sync would write them into the catalogue."""

from bench.catalogue_samples import BEGINNING, Formula
from tidegate.catalogue.changes import FoundVolume, VolumeChange, found_in_cfg
from tidegate.format.cfgs.cfg_metadata import volume_metadata, whole_metadata
from tidegate.format.cfgs.volume_cfg import VolumeCfg


def change_of(formula: Formula, volume: int, *, first_mark: int = 0) -> VolumeChange:
    backups = [
        found_in_cfg(
            whole_metadata(formula.cfg(volume, number), name=formula.backup_name(volume, number), now=BEGINNING).record,
            hash((volume, number, first_mark)),
            formula.created(volume, number),
        )
        for number in range(formula.backups)
    ]
    found = FoundVolume(
        listing_mark=hash((volume, first_mark)),
        settled=True,
        synced_at=BEGINNING,
        record=volume_metadata(VolumeCfg.decode(formula.volume_cfg(volume))),
        cfg_mark=volume,
        messages={},
    )
    return VolumeChange(target="far", volume=formula.volume_name(volume), backups=backups, found=found)
