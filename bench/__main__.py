"""Run all benches, or those that are named; exit 1 if a target is missed, 2 if a name is unknown."""

import sys
from collections.abc import Sequence

from bench import (
    backup_queue,
    catalogue,
    command_line,
    deletes,
    page,
    queue_http,
    resource_store,
    restore_slots,
    seed_plan,
    store,
    transfer_gates,
    transfers,
)
from bench.rows import Bench, table

# A new bench is one line here: its name, and a function without arguments that returns rows.
BENCHES: dict[str, Bench] = {
    "resource-store": resource_store.run,
    "backup-queue": backup_queue.run,
    "queue-http": queue_http.run,
    "page": page.run,
    "command-line": command_line.run,
    "store": store.run,
    "transfer-gates": transfer_gates.run,
    "transfers": transfers.run,
    "restore-slots": restore_slots.run,
    "catalogue": catalogue.run,
    "deletes": deletes.run,
    "seed-plan": seed_plan.run,
}


def main(names: Sequence[str]) -> int:
    unknown = sorted(set(names) - BENCHES.keys())
    if unknown:
        print(f"no bench is called {', '.join(unknown)}; there are: {', '.join(BENCHES)}", file=sys.stderr)
        return 2
    missed = False
    for name in names or BENCHES:
        rows = BENCHES[name]()
        print(f"{name}\n{table(rows)}\n")
        missed = missed or not all(row.ok for row in rows)
    return 1 if missed else 0


sys.exit(main(sys.argv[1:]))
