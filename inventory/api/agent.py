"""What agents call, and how their messages are read. Higher rooms build their agent views on ``AgentView``."""

from typing import Any, TypeVar

import msgspec
from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.views import APIView

from agent import messages
from inventory.api.authentication import IsNode, NodeAuthentication
from inventory.errors import UnknownNode
from inventory.services import node_enrol, require_protocol
from kernel.api.parsers import require_storable
from kernel.errors import Invalid

T = TypeVar("T")
NUL = rb"\u0000"
"""How JSON writes the one character that PostgreSQL has no text for."""


class AgentView(APIView):
    """A call by a node. Read its message with ``decoded``, answer with ``answer``."""

    authentication_classes = [NodeAuthentication]
    permission_classes = [IsNode]
    parser_classes = []
    schema = None
    """Not in the OpenAPI document: ``agent.messages`` describes these calls."""

    def permission_denied(self, request: Request, message: str | None = None, code: str | None = None) -> Any:
        raise UnknownNode


def decoded(request: Request, kind: type[T]) -> T:
    """The body as this message. Raises ``Invalid`` that names the place (``$.hardware.cpus``) and, for a message of
    another protocol, ``ProtocolMismatch``."""
    try:
        message = msgspec.json.decode(request.body, type=kind)
        if NUL in request.body:
            require_storable(msgspec.json.decode(request.body))
    except msgspec.ValidationError as error:
        text, _separator, place = str(error).partition(" - at `")
        raise Invalid({place.rstrip("`") or "$": text}) from error
    except msgspec.DecodeError as error:
        raise Invalid({"$": str(error)}) from error
    require_protocol(getattr(message, "protocol", messages.PROTOCOL))
    return message


def answer(message: msgspec.Struct, status: int = 200) -> HttpResponse:
    """A message as the answer's JSON body."""
    return HttpResponse(msgspec.json.encode(message), status=status, content_type="application/json")


class EnrolView(AgentView):
    """``POST /agent/v1/enrol``: the one-time token in the message is the credential."""

    authentication_classes = []
    permission_classes = []

    def post(self, request: Request) -> HttpResponse:
        return answer(node_enrol(message=decoded(request, messages.Enrol)), status=201)
