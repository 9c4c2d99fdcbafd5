"""Becoming a node: the one-time token for the node's own, once."""

import logging
import threading

from agent import __version__
from agent.backoff import Backoff
from agent.errors import AgentError, BadSettings, PortalProblem
from agent.home import Home
from agent.messages import PROTOCOL, Enrol, Enrolled, Hardware
from agent.portal import ENROL_ANSWER_S, Portal
from agent.settings import Settings

log = logging.getLogger(__name__)

LONGEST_S = 3.0
"""Someone is setting the node up and waits for it."""


def _token(settings: Settings) -> str:
    path = settings.enrolment_token_file
    if path is None:
        raise BadSettings("this node is not enrolled: give --enrolment-token-file (SLUICE_ENROLMENT_TOKEN_FILE)")
    try:
        token = path.read_text().strip()
    except OSError as error:
        raise BadSettings(f"--enrolment-token-file: {path}: {error.strerror}") from error
    if not token:
        raise BadSettings(f"--enrolment-token-file: {path} is empty")
    return token


def enrolled_node(settings: Settings, home: Home, hardware: Hardware, leaving: threading.Event) -> Enrolled:
    """Who this node is; enrols it first if need be, waiting for a portal that is not up yet.

    Raises BadSettings without a token, AgentError when the portal refuses it or the agent is told to leave.
    """
    known = home.read_node()
    if known is not None:
        return known
    message = Enrol(PROTOCOL, _token(settings), __version__, hardware)
    portal = Portal(settings.portal_url, answer_s=ENROL_ANSWER_S)
    backoff = Backoff(longest_s=LONGEST_S)
    try:
        while not leaving.is_set():
            try:
                enrolled = portal.enrol(message)
            except PortalProblem as problem:
                if problem.status is not None and 400 <= problem.status < 500 and problem.status != 429:
                    raise AgentError(f"enrolment refused: {problem}") from problem
                log.warning("enrolment: %s", problem)
                leaving.wait(backoff.failed())
            else:
                home.write_node(enrolled)
                log.info("enrolled as node %s (%s)", enrolled.node_id, enrolled.node_name)
                return enrolled
    finally:
        portal.close()
    raise AgentError("told to leave before the node was enrolled")
