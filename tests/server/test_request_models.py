"""What the API describes is what admission takes."""

from raas_sdk.gateway.admission import FIELDS
from raas_sdk.server.request_models import ProcessBody


def test_the_described_body_has_the_fields_that_admission_knows():
    assert set(ProcessBody.model_fields) == set(FIELDS)
