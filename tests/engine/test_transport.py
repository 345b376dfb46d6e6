import asyncio

import pytest

from raas_sdk import Instance, Job
from raas_sdk.engine import messages as m
from raas_sdk.engine.transport import direct_channels


async def test_messages_arrive_in_order_and_never_inside_send():
    one, other = direct_channels()
    got = []
    other.on_message(got.append)
    sent = [m.Cancel(f"j{n}") for n in range(5)]
    for message in sent:
        one.send(message)
    assert got == []
    await asyncio.sleep(0)
    assert got == sent


async def test_what_came_before_a_receiver_waits_for_it():
    one, other = direct_channels()
    one.send(m.Cancel("early"))
    await asyncio.sleep(0)
    got = []
    other.on_message(got.append)
    one.send(m.Cancel("late"))
    await asyncio.sleep(0)
    assert [message.job_id for message in got] == ["early", "late"]


async def test_a_receiver_that_raises_still_gets_what_follows():
    faults, got = [], []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: faults.append(context["exception"]))
    one, other = direct_channels()

    def receive(message):
        if message.job_id == "bad":
            raise ValueError("bad")
        got.append(message.job_id)

    other.on_message(receive)
    for name in ("a", "bad", "b", "bad", "c"):
        one.send(m.Cancel(name))
    for _ in range(5):
        await asyncio.sleep(0)
    assert got == ["a", "b", "c"] and len(faults) == 2


@pytest.mark.parametrize("coded", [False, True])
async def test_a_job_travels_as_it_is_or_as_an_equal_copy(coded):
    one, other = direct_channels(coded=coded)
    got = []
    other.on_message(got.append)
    job = Job("j", Instance.parse({"data_source": "s", "big": 2**70, "n": [1, {"x": None}]}))
    one.send(m.Submit("j", 1, m.JobParcel(job), 0.5, 12.0))
    await asyncio.sleep(0)
    assert got[0].parcel.job == job and (got[0].parcel.job is job) is not coded
    assert (got[0].queue_wait, got[0].accepted_at) == (0.5, 12.0)
