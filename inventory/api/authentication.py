"""Who speaks under ``/agent/v1/``: a node, by the token it got when it enrolled."""

from django.db.models import Model
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.tokens import digest_of
from inventory.errors import UnknownNode
from inventory.models import Node
from inventory.states import NodeState


class NodeAuthentication(BaseAuthentication):
    """``Authorization: Bearer NODE_TOKEN``. ``request.user`` and ``request.auth`` are the node, with its pool.

    Raises ``UnknownNode`` (401) for any other bearer; without the header nobody is authenticated.
    """

    def authenticate(self, request: Request) -> tuple[Node, Node] | None:
        parts = get_authorization_header(request).split()
        if len(parts) != 2 or parts[0].lower() != b"bearer":
            return None
        nodes = Node.objects.select_related("pool").exclude(state=NodeState.REMOVED)
        node = nodes.filter(token_digest=digest_of(parts[1].decode("latin-1"))).first()
        if node is None:
            raise UnknownNode
        return node, node

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="agent"'


class IsNode(BasePermission):
    """Lets nodes in, and nobody else."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return isinstance(request.auth, Node)


def node_of(request: Request) -> Node:
    """The node that speaks; a view with ``NodeAuthentication`` and ``IsNode`` always has one."""
    node: Model | None = request.auth
    if not isinstance(node, Node):
        raise UnknownNode
    return node
