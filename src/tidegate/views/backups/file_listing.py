"""Files in a backup as a table."""

from tidegate.model.backups.file_listing import ListedFile
from tidegate.views.table import Column, TableView

_LETTERS = {"directory": "d", "symlink": "l", "hardlink": "h", "fifo": "p"}
_SIZED = frozenset({"file", "hardlink"})

FILES: TableView[ListedFile] = TableView(
    (ListedFile,),
    (
        Column("MODE", lambda file, _: f"{_LETTERS.get(file.type, '-')}{file.mode}"),
        Column("OWNER", lambda file, _: f"{file.uid}:{file.gid}", wide=True),
        Column("SIZE", lambda file, reader: reader.size(file.size) if file.type in _SIZED else "", right=True),
        Column("CHANGED", lambda file, reader: reader.moment(file.modified)),
        Column("PATH", lambda file, _: f"{file.path} -> {file.target}" if file.target else file.path),
    ),
)
