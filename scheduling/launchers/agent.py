"""Our own agent on the node: a Celery message on the node's queue names the member, the agent fetches the rest."""

from celery import Celery, current_app

from agent.messages import WAKE_TASK, node_queue
from scheduling.launchers.base import Wake

EXPIRES_S = 60
"""A node that was away longer has synced before it would read the message."""


class AgentLauncher:
    name = "agent"

    def __init__(self, app: Celery | None = None) -> None:
        self._app = app

    def wake(self, wakes: list[Wake]) -> None:
        app = self._app or current_app
        with app.producer_or_acquire() as producer:
            for wake in wakes:
                app.send_task(
                    WAKE_TASK,
                    args=[wake.member_id],
                    queue=node_queue(wake.node_id),
                    expires=EXPIRES_S,
                    ignore_result=True,
                    retry=False,
                    producer=producer,
                )
