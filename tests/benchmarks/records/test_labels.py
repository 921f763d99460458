"""Names of methods: parameters tell those of one name apart, and hashes where these are the same."""

import pytest

from benchmarks.records.labels import first_of, labels, name_of, variants


def test_a_method_alone_has_its_own_name():
    assert labels({"btao-aaaa1111": {"n_init": 3}, "gp_bo-bbbb2222": {"n_init": 4}}) == {
        "btao-aaaa1111": "btao", "gp_bo-bbbb2222": "gp_bo",
    }  # fmt: skip


def test_parameters_that_differ_are_in_the_name():
    methods = {
        "btao-aaaa1111": {"n_init": None, "rho_bounds": [0.0, 1.0], "start": "nested"},
        "btao-bbbb2222": {"n_init": 3, "rho_bounds": [0.0, 1.0], "start": "nested"},
        "btao-cccc3333": {"n_init": 3, "rho_bounds": ["-inf", "inf"], "start": "nested"},
    }
    assert list(labels(methods).values()) == [
        "btao [n_init=null, rho_bounds=[0.0,1.0]]",
        "btao [n_init=3, rho_bounds=[0.0,1.0]]",
        "btao [n_init=3, rho_bounds=[-inf,inf]]",
    ]


def test_the_same_parameters_have_one_name_and_labels_with_the_hash():
    methods = {"a-12345678": {"x": 1}, "a-12349999": {"x": 1}, "a-77777777": {"x": 2}}
    assert list(variants(methods).values()) == ["a [x=1]", "a [x=1]", "a [x=2]"]
    assert list(labels(methods).values()) == ["a [x=1, 12345]", "a [x=1, 12349]", "a [x=2]"]


def test_methods_without_parameters_on_record_are_told_apart_by_their_hash():
    assert list(labels({"a-12345678": {}, "a-77777777": {}}).values()) == ["a [1234]", "a [7777]"]


def test_a_name_may_have_a_hyphen():
    assert name_of("my-method-0123456789") == "my-method"


def test_others_are_compared_to_btao_where_it_is_there_else_to_the_first_or_to_what_is_asked_for():
    methods = {"tpe": "tpe", "btao [n_init=2]": "btao", "btao [n_init=3]": "btao"}
    assert first_of(methods) == "btao [n_init=2]"
    assert first_of({"tpe": "tpe", "smac": "smac"}) == "tpe"
    assert first_of(methods, "tpe") == "tpe" and first_of(methods, "btao [n_init=3]") == "btao [n_init=3]"
    with pytest.raises(ValueError, match="first: unknown method 'tp': did you mean 'tpe'"):
        first_of(methods, "tp")
    with pytest.raises(ValueError, match="first: there is no method"):
        first_of({})
