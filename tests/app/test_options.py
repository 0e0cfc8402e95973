"""What a server is told by files: read before anything starts, and refused with the place that named the file."""

import json

import pytest

from tidegate.app.options import server_options
from tidegate.cli.configuration import read_configuration
from tidegate.cli.environment import Environment
from tidegate.errors import InvalidInput
from tidegate.model.transfers.load import LoadConcurrency
from tidegate.model.transfers.virtual_node import VirtualNode


def options(tmp_path, flags, **variables):
    environment = Environment({"HOME": str(tmp_path), **variables}, tmp_path)
    return server_options(read_configuration(flags, environment))


def test_without_files_the_setting_stays_and_the_machine_is_the_node(tmp_path):
    found = options(tmp_path, {})

    assert (found.load_concurrency, found.nodes) == (None, ())


def test_files_are_named_by_flags_variables_or_the_configuration_file(tmp_path):
    (tmp_path / "load.json").write_text('{"loadConcurrency": {"globalConfig": 2}}')
    (tmp_path / "nodes.json").write_text('[{"name": "a"}]')
    expected = LoadConcurrency(global_config=2), (VirtualNode(name="a"),)

    by_flag = options(tmp_path, {"load_config": "load.json", "nodes": "nodes.json"})
    by_variable = options(tmp_path, {}, TIDEGATE_LOAD_CONFIG="load.json", TIDEGATE_NODES="nodes.json")
    (tmp_path / "tidegate.toml").write_text('load_config = "load.json"\nnodes = "nodes.json"\n')
    by_file = options(tmp_path, {})

    for found in (by_flag, by_variable, by_file):
        assert (found.load_concurrency, found.nodes) == expected


@pytest.mark.parametrize(
    ("flags", "variables", "place"),
    [
        ({"nodes": "bad.json"}, {}, "--nodes"),
        ({}, {"TIDEGATE_NODES": "bad.json"}, "TIDEGATE_NODES"),
        ({"load_config": "bad.json"}, {}, "--load-config"),
        ({}, {"TIDEGATE_LOAD_CONFIG": "bad.json"}, "TIDEGATE_LOAD_CONFIG"),
    ],
)
def test_a_bad_file_is_told_with_who_named_it(tmp_path, flags, variables, place):
    (tmp_path / "bad.json").write_text(json.dumps("nonsense"))

    with pytest.raises(InvalidInput) as refused:
        options(tmp_path, flags, **variables)

    assert refused.value.message.startswith(f"{place}: {tmp_path}/bad.json: the document: must be ")
