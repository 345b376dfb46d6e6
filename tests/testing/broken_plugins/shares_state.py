"""One attribute for all jobs: two at once mix it up."""

from raas_sdk import EmptyWorkspace, Reward, hookimpl


class Plugin:
    """Keeps the word of the job at hand, as if there were only one."""

    @hookimpl
    def raas_data_sources(self):
        return ["broken"]

    @hookimpl
    async def raas_init(self, job):
        self.word = job.instance.payload["word"]
        return EmptyWorkspace()

    @hookimpl
    async def raas_run(self, policy):
        chat = policy.conversation([{"role": "user", "content": self.word}])
        return {"letter": (await chat.sample()).text, "word": self.word}

    @hookimpl
    async def raas_eval(self, trajectory):
        return Reward(float(trajectory.submission["letter"] == trajectory.submission["word"][0]))


plugin = Plugin()
