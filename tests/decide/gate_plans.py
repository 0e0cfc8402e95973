"""Transfers before their gates, and what the gates plan for them."""

from dataclasses import replace

from tidegate.decide.transfers.gate_surroundings import GateSurroundings
from tidegate.decide.transfers.gates import plan_accepts, plan_starts
from tidegate.decide.transfers.restore_limit import RESTORE_PRIORITY_LABEL, in_progress
from tidegate.decide.transfers.waits import TransferWaits
from tidegate.model.setting import effective_settings
from tidegate.model.transfers.load import parse_load_concurrency
from tidegate.model.transfers.transfer import DataDownload, TransferPhase
from tidegate.state.transfers import TransferTable
from tidegate.testing.resources.builders import a_node, a_target
from tidegate.testing.resources.builders import a_transfer as built

P = TransferPhase


def around(load="{}", restores=5, per_node=0, nodes=None, down=()):
    settings = replace(
        effective_settings([]),
        concurrent_restores=restores,
        concurrent_restores_per_node=per_node,
        load_concurrency=parse_load_concurrency(load),
    )
    targets = [a_target(name).with_status(available=False) for name in down]
    return GateSurroundings.of(settings, [a_node("n"), a_node("m")] if nodes is None else nodes, targets)


def a_transfer(name, *given, wanted=None, label=None, **wishes):
    """Each of a volume of its own, unless the test says otherwise."""
    transfer = built(name, *given, **{"volume": ("ns", name), **wishes}).with_spec(node=wanted)
    return transfer if label is None else transfer.with_metadata(labels={RESTORE_PRIORITY_LABEL: label})


def a_download(name, *given, **wishes):
    return a_transfer(name, *given, kind=DataDownload, **wishes)


def table_of(transfers):
    table = TransferTable()
    for transfer in transfers:
        table.note(transfer)
    return table


def applied(transfers, surroundings):
    """The transfers after one pass, as the controller would write them."""
    after = {transfer.ref: transfer for transfer in transfers}
    while True:
        starts = plan_starts(table_of(after.values()), surroundings)
        for entry in starts:
            after[entry.ref] = after[entry.ref].with_status(phase=P.IN_PROGRESS)
        accepts = plan_accepts(table_of(after.values()), surroundings)
        for one in accepts:
            taken = in_progress(after[one.entry.ref]) if one.entry.restore else after[one.entry.ref]
            after[one.entry.ref] = taken.with_status(phase=P.ACCEPTED, node=one.node)
        if not (starts or accepts):
            return list(after.values())


def told(transfers, surroundings):
    table = table_of(applied(transfers, surroundings))
    waits = TransferWaits(table, surroundings)
    return {held.entry.place.name: f"{held.reason} {held.message}" for held in waits.not_told_exactly()}


def accepted(*transfers, **wishes):
    return [(one.entry.place.name, one.node) for one in plan_accepts(table_of(transfers), around(**wishes))]


def started(*transfers, **wishes):
    return [entry.place.name for entry in plan_starts(table_of(transfers), around(**wishes))]
