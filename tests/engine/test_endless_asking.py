"""A plugin that asks on after its limit is reached: it is stopped, and nobody else is kept waiting."""

from raas_sdk import LimitReached


async def test_a_plugin_that_asks_for_ever_is_stopped_by_its_budget(service, task):
    async def run(self, policy):
        chat = policy.conversation([{"role": "user", "content": "hi"}])
        while True:
            try:
                await chat.sample()
                chat.append({"role": "user", "content": "more"})
            except LimitReached:
                continue

    async with service(task(run=run), ("other", task("other"))) as one:
        endless = one.submit(limits={"max_turns": 1, "run_seconds": 0.2, "collect_seconds": 0.1})
        other = await one.result(source="other")
        assert (other.outcome, other.reward) == ("scored", 1.0)
        result = await endless.done
        assert (result.outcome, result.reward) == ("timeout", None), result.failure
        assert result.usage.turns == 1


async def test_a_plugin_that_asks_for_ever_can_be_cancelled(service, task):
    async def run(self, policy):
        chat = policy.conversation([{"role": "user", "content": "hi"}])
        while True:
            try:
                await chat.sample()
                chat.append({"role": "user", "content": "more"})
            except LimitReached:
                continue

    async with service(task(run=run)) as one:
        endless = one.submit("endless", limits={"max_turns": 1})
        await one.backends[0].wait_requests(1)
        assert one.gateway.cancel("endless")
        assert (await endless.done).outcome == "cancelled"
