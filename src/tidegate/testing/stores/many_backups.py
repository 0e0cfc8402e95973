"""A catalogue of any size within seconds, written by SQL itself: for what only reads it."""

from pathlib import Path

from tidegate.catalogue.schema import open_catalogue

VOLUMES_PER_NAMESPACE = 100

_NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {})"
_FILL = """
BEGIN;
INSERT INTO targets VALUES (1, '{target}');
INSERT INTO texts VALUES (1, 'lz4'), (2, '{{}}');
INSERT INTO labels VALUES (1, 'RecurringJob', 'nightly'), (2, 'RecurringJob', 'hourly');
INSERT INTO label_sets VALUES (1, '1'), (2, '2');
INSERT INTO label_members VALUES (1, 1), (2, 2);
{volumes} INSERT INTO volumes (id, target_id, name, record, listing_mark, settled, synced_at)
  SELECT i + 1, 1, printf('pvc-%08d', i), json_object('size', 10737418240, 'last_backup_at', 1767225600 + i), i, 1,
    1767225600 FROM n;
{volumes} INSERT INTO groups SELECT i + 1, i + 1, 1, 0, printf('team-%03d', i / {per_namespace}), printf('data-%d', i),
    printf('web-%d', i), printf('web-%d-0', i), printf('pvc-%08d
team-%03d
data-%d
web-%d
web-%d-0', i, i / {per_namespace}, i, i, i), {backups} FROM n;
{rows} INSERT INTO backups SELECT i + 1, i / {backups} + 1, i / {backups} + 1, printf('backup-%016x', i),
    1735689600 + (i % {backups}) * 3600 + (i / {backups}) % 3600, i, CASE WHEN i % 9973 = 0 THEN 2 ELSE 0 END, 0, 1,
    1735689600, 'snap', 2097152, 10737418240, 10737418240, 1000, 0, 1, 2, i / {backups} % 2 + 1, NULL FROM n;
COMMIT;
"""


def write_catalogue(path: Path, *, volumes: int, backups: int, target: str = "far") -> None:
    """So many volumes of one target with so many backups each; one of some ten thousand is an Error."""
    connection = open_catalogue(path)
    connection.execute("PRAGMA synchronous = OFF")
    connection.executescript(
        _FILL.format(
            target=target,
            volumes=_NUMBERS.format(volumes),
            rows=_NUMBERS.format(volumes * backups),
            backups=backups,
            per_namespace=VOLUMES_PER_NAMESPACE,
        )
    )
    connection.close()
