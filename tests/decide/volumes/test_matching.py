"""A selection and the volumes that there are."""

import pytest

from tidegate.decide.volumes.matching import check_match, ended_empty, match, same_selection, with_sentences
from tidegate.errors import InvalidInput
from tidegate.model.backups.backup import UNMATCHED_ANNOTATION, BackupPhase, BackupSpec
from tidegate.model.label_selector import LabelSelector
from tidegate.testing.resources.builders import a_backup, a_volume

THERE = [a_volume("shop", "db", app="shop"), a_volume("shop", "files"), a_volume("blog", "posts", app="blog")]


def labelled(**labels):
    return LabelSelector(match_labels=labels)


def spec(**fields):
    return BackupSpec(**{name: (value,) if isinstance(value, str) else value for name, value in fields.items()})


IN_VAIN = [
    ({"included_namespaces": "shpo"}, "no volume is in namespace shpo (did you mean shop?)", "includedNamespaces[0]"),
    ({"included_namespaces": "zebra"}, "no volume is in namespace zebra", "includedNamespaces[0]"),
    ({"included_namespaces": "x-*"}, "no volume is in a namespace that matches x-*", "includedNamespaces[0]"),
    ({"included_volumes": "shop/bd"}, "there is no volume shop/bd (did you mean shop/db?)", "includedVolumes[0]"),
    (
        {"label_selector": labelled(app="shpo")},
        "no volume has the label app=shpo (did you mean app=shop?)",
        "labelSelector",
    ),
    ({"or_label_selectors": (labelled(app="x1"),)}, "no volume has the label app=x1", "orLabelSelectors"),
    (
        {"included_namespaces": "blog", "label_selector": labelled(app="shop")},
        "no volume among those selected has the label app=shop",
        "labelSelector",
    ),
    (
        {"included_namespaces": "shop", "excluded_namespaces": "sh*"},
        "what is excluded leaves no volume of what is included",
        "excludedNamespaces",
    ),
]


@pytest.mark.parametrize(("fields", "sentence", "field"), IN_VAIN)
def test_a_selection_that_matches_nothing_is_refused_with_what_may_have_been_meant(fields, sentence, field):
    wanted = spec(**fields)

    with pytest.raises(InvalidInput) as refused:
        check_match(wanted, match(wanted, THERE))

    assert refused.value.message == f"nothing would be backed up: {sentence}"
    assert refused.value.field == f"spec.{field}"
    assert "--allow-empty" in refused.value.hint


def test_where_there_is_no_volume_yet_the_refusal_says_so():
    with pytest.raises(InvalidInput, match="there is no volume yet"):
        check_match(spec(), match(spec(), []))


@pytest.mark.parametrize("fields", [fields for fields, _, _ in IN_VAIN])
def test_a_selection_that_may_be_empty_is_taken_and_still_tells_what_is_not_there(fields):
    wanted = spec(allow_empty=True, **fields)

    check_match(wanted, match(wanted, THERE))

    assert match(wanted, THERE).sentences


def test_a_name_that_matches_nothing_beside_one_that_does_is_told():
    found = match(spec(included_namespaces=("shop", "blgo", "x-*")), THERE)

    assert [volume.name for volume in found.volumes] == ["db", "files"]
    assert found.sentences == (
        "no volume is in namespace blgo (did you mean blog?)",
        "no volume is in a namespace that matches x-*",
    )


DOUBTFUL = [
    ({"excluded_namespaces": ("shpo",)}, ("no namespace shpo can be left out (did you mean shop?)",)),
    ({"excluded_namespaces": ("kube-system", "x-*", "blog")}, ()),
    (
        {"ordered_resources": {"volumes": "shop/bd,shop/files"}},
        ("there is no volume shop/bd that could go first (did you mean shop/db?)",),
    ),
]


@pytest.mark.parametrize(("fields", "sentences"), DOUBTFUL)
def test_a_slip_in_what_is_left_out_or_goes_first_is_told_at_creation_and_not_with_each_run(fields, sentences):
    found = match(spec(**fields), THERE)

    assert (found.at_creation, found.sentences) == (sentences, ())


def test_a_namespace_in_which_no_volume_has_the_label_is_no_mistake():
    found = match(spec(included_namespaces=("shop", "blog"), label_selector=labelled(app="shop")), THERE)

    assert ([volume.name for volume in found.volumes], found.unmatched) == (["db"], ())


def test_of_many_names_in_vain_the_first_are_told_and_the_others_counted():
    found = match(spec(included_namespaces=tuple(f"n{i}" for i in range(99))), THERE)

    assert len(found.sentences) == 6
    assert found.sentences[-1] == "94 more match nothing"


def test_a_volume_that_is_being_deleted_is_not_there():
    going = a_volume("old", "data").with_metadata(deletion_timestamp="2026-01-01T00:00:00Z")

    assert match(spec(included_namespaces="old"), [*THERE, going]).volumes == ()


def test_what_matches_nothing_is_kept_with_a_new_backup_whatever_a_client_says():
    forged = a_backup("b", "shpo").with_metadata(annotations={UNMATCHED_ANNOTATION: "forged", "why": "x"})
    in_vain, good = (match(spec(included_namespaces=name), THERE) for name in (("shpo",), ("shop",)))

    kept = with_sentences(forged, in_vain)
    assert kept.unmatched_when_made == kept.status.unmatched == in_vain.at_creation
    assert with_sentences(forged, good).metadata.annotations == {"why": "x"}


def test_only_what_selects_volumes_makes_another_selection():
    one = spec(included_namespaces="shop")

    assert same_selection(one, one.replace(priority=3))
    assert not same_selection(one, one.replace(included_namespaces=("blog",)))
    assert not same_selection(one.replace(allow_empty=True), one)


def test_an_empty_end_is_partially_failed_and_says_what_was_not_there():
    ended = ended_empty(a_backup("b", "shpo").with_status(unmatched=("no volume is in namespace shpo",), warnings=1))

    status = ended.status
    assert (status.phase, status.errors, status.warnings) == (BackupPhase.FINALIZING_PARTIALLY_FAILED, 1, 0)
    assert status.failure_reason == "NothingMatched: nothing was backed up: no volume is in namespace shpo"
    assert ended.holds_nothing


def test_an_allowed_empty_end_completes_and_says_that_it_holds_nothing():
    ended = ended_empty(a_backup("b", "shpo").with_spec(allow_empty=True))

    assert (ended.status.phase, ended.status.failure_reason) == (BackupPhase.FINALIZING, None)
    assert ended.status.condition("Empty").message == "nothing matched, as allowed; it holds nothing"


def test_a_backup_whose_volumes_were_all_deleted_before_their_turn_names_them():
    ended = ended_empty(a_backup("b", "shop").with_status(gone_volumes=("shop/db", "shop/files")))

    assert ended.status.failure_reason.endswith("every volume was deleted before its turn came: shop/db, shop/files")
