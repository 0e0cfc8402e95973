"""How many transfers a node may move at once."""

from collections.abc import Mapping

from tidegate.model.load import LoadConcurrency


def node_limit(labels: Mapping[str, str], load: LoadConcurrency) -> int:
    """The smallest number of the rules that match the node, else the global one."""
    matching = [rule.number for rule in load.per_node_config if rule.node_selector.matches(labels)]
    return min(matching, default=load.global_config)
