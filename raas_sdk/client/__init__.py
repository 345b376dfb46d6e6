"""What a trainer imports: a client of the service that is light to import and retries within bounds."""

from raas_sdk.client.errors import CallRefused, ServiceUnreachable
from raas_sdk.client.patience import Patience
from raas_sdk.client.rollout_client import RolloutClient

__all__ = ["CallRefused", "Patience", "RolloutClient", "ServiceUnreachable"]
