"""What trainers talk to, below HTTP: admission, queue, leases, answers."""

from raas_sdk.gateway.admission import Submission, admit
from raas_sdk.gateway.gateway import Gateway
from raas_sdk.gateway.job_record import JobRecord
from raas_sdk.gateway.observer import Observer
from raas_sdk.gateway.service import open_service

__all__ = ["Gateway", "JobRecord", "Observer", "Submission", "admit", "open_service"]
