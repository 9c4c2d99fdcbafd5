"""``POST /agent/v1/samples``: what a node measured."""

from django.http import HttpResponse
from rest_framework.request import Request

from agent.messages import SampleBatch
from inventory.api.agent import AgentView, answer, decoded
from inventory.api.authentication import node_of
from monitoring.services import samples_ingest


class SamplesView(AgentView):
    """Columns in, counts out. What cannot be kept is counted as refused; the rest is kept."""

    def post(self, request: Request) -> HttpResponse:
        return answer(samples_ingest(node=node_of(request), batch=decoded(request, SampleBatch)))
