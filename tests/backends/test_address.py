import pytest

from raas_sdk.backends.address import normalise_address
from raas_sdk.errors import BadRequest


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("http://host:8000", "http://host:8000"),
        ("http://host:8000/", "http://host:8000"),
        ("http://host:8000/v1", "http://host:8000"),
        ("http://host:8000/v1/", "http://host:8000"),
        (" http://HOST ", "http://host"),
        ("https://host/models/a/v1", "https://host/models/a"),
        ("http://[::1]:8000/v1", "http://[::1]:8000"),
    ],
)
def test_both_forms_of_an_address_become_one(given: str, expected: str) -> None:
    assert normalise_address(given) == expected


@pytest.mark.parametrize(
    "given",
    ["", "host:8000", "ftp://host", "http://", "http://host:99999", "http://host:port", "http://a b:1",
     "http://user:secret@host", "http://host/?q=1", "http://host/#x", "http://[::1"],
)  # fmt: skip
def test_an_address_of_no_use_is_named_in_the_refusal(given: str) -> None:
    with pytest.raises(BadRequest) as caught:
        normalise_address(given)
    assert repr(given) in str(caught.value)


def test_an_address_that_is_no_text_is_refused() -> None:
    with pytest.raises(BadRequest, match="None"):
        normalise_address(None)  # type: ignore[arg-type]
