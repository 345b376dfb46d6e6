"""A plugin that asks on after its limit is reached, without ever waiting for anything."""

from raas_sdk import LimitReached


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
