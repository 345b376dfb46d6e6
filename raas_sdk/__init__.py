"""Rollout-as-a-Service: the contract for task plugins and the service that runs them."""

from raas_sdk.errors import (
    BackendContract,
    BackendFault,
    BadInstance,
    BadRequest,
    BadSampling,
    GraderFault,
    LimitReached,
    PluginFault,
    RaasError,
    WorkspaceFault,
)
from raas_sdk.hooks import Host, TaskHandler, hookimpl
from raas_sdk.instance import Instance
from raas_sdk.job import Job, Purpose, Stage
from raas_sdk.limits import Limits
from raas_sdk.policy import Conversation, Message, Policy, Turn
from raas_sdk.result import Failure, Outcome, Result, Timing, Usage
from raas_sdk.reward import Reward
from raas_sdk.sampling import Sampling
from raas_sdk.trajectory import Segment, Trajectory, TurnSpan
from raas_sdk.workspace import Bind, EmptyWorkspace, Observation, SandboxLimits, SandboxSpec, Tool, Workspace

__all__ = [
    "BackendContract",
    "BackendFault",
    "BadInstance",
    "BadRequest",
    "BadSampling",
    "Bind",
    "Conversation",
    "EmptyWorkspace",
    "Failure",
    "GraderFault",
    "Host",
    "Instance",
    "Job",
    "LimitReached",
    "Limits",
    "Message",
    "Observation",
    "Outcome",
    "PluginFault",
    "Policy",
    "Purpose",
    "RaasError",
    "Result",
    "Reward",
    "Sampling",
    "SandboxLimits",
    "SandboxSpec",
    "Segment",
    "Stage",
    "TaskHandler",
    "Timing",
    "Tool",
    "Trajectory",
    "Turn",
    "TurnSpan",
    "Usage",
    "Workspace",
    "WorkspaceFault",
    "hookimpl",
]
