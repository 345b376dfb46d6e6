"""What a trainer imports: a client of the service that retries within bounds, and batches of samples."""

from raas_sdk.client.batch import Batch
from raas_sdk.client.errors import CallRefused, ServiceUnreachable
from raas_sdk.client.patience import Patience
from raas_sdk.client.results_file import ResultsFile
from raas_sdk.client.rollout_client import RolloutClient
from raas_sdk.client.samples import Sample, SamplePlan
from raas_sdk.client.summary import SourceSummary, pass_at_k, summarise
from raas_sdk.client.task_file import read_tasks

__all__ = [
    "Batch",
    "CallRefused",
    "Patience",
    "ResultsFile",
    "RolloutClient",
    "Sample",
    "SamplePlan",
    "ServiceUnreachable",
    "SourceSummary",
    "pass_at_k",
    "read_tasks",
    "summarise",
]
