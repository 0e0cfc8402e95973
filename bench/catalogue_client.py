"""One sync of the catalogue in a process of its own, so that its memory is known.

`python -m bench.catalogue_client ENDPOINT BUCKET IN_FLIGHT DATABASE` prints seconds, MiB and what was found as JSON.
"""

import asyncio
import json
import resource
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from bench.far_client import credentials_of
from bench.resource_store import WallClock
from tidegate.app.machine.collector import search_seldom
from tidegate.catalogue.database import SqliteCatalogue
from tidegate.catalogue.progress import SyncProgress
from tidegate.catalogue.target_sync import SyncOrder, TargetSync
from tidegate.model.stores.catalogue import CatalogueFilter
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.objects.open_reader import open_reader


async def sync(endpoint: str, bucket: str, in_flight: int, database: Path) -> dict[str, float]:
    access = TargetAccess(url=f"s3://{bucket}@us-east-1/", credentials=dict(credentials_of(endpoint)))
    search_seldom()  # as the process does that a server has for syncs
    catalogue = SqliteCatalogue.open(database)
    reader = open_reader(access, in_flight=in_flight, pause=asyncio.sleep)
    progress = SyncProgress(datetime.now(UTC))
    began = time.perf_counter()
    outcome = await TargetSync(SyncOrder(target="far", turn=1), reader, catalogue, WallClock(), progress).run()
    seconds = time.perf_counter() - began
    counts = await catalogue.counts(CatalogueFilter())
    catalogue.close()
    return {
        "seconds": seconds,
        "cpu_seconds": time.process_time(),
        "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "volumes": counts.volumes,
        "backups": counts.backups,
        "errors": outcome.error_count,
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(sync(sys.argv[1], sys.argv[2], int(sys.argv[3]), Path(sys.argv[4])))))
