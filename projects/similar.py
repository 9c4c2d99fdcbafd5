"""Registrations that are like one that is being written or decided on, and why.

The database finds candidates: names that hold this name, or a piece of it, by trigrams (so a slip of the pen does not
hide one), and projects with one of the datasets. The few that it finds are weighed here by the words that names and
goals share, because a share of trigrams says nothing to a person. Chinese is written without blanks: each character
is a word to the index, each pair of neighbours to the weighing. A goal alone finds nobody: comparing 10,000 long texts
by trigrams took 0.7 s.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from django.contrib.postgres.search import TrigramSimilarity
from django.db.models import Prefetch, Q, QuerySet

from projects.facts import MAX_NAME
from projects.models import Membership, Project, ProjectRole

MOST_PER_WAY = 30
MOST_PIECES = 5
CHINESE_PIECE = 4
WHOLE = 60
"""Characters of a name that are looked for as they stand: an index scan costs with each trigram."""
LEAST = 0.3
"""Below this two registrations have no more in common than any two."""
HELD = 0.7
"""What a text weighs that is held whole by a longer one."""
MOST_CHARACTERS = 2000
MOST_WORDS = 6
SHORTEST = 3
_CHINESE = "\u3400-\u9fff\uf900-\ufaff"
_RUNS = re.compile(rf"[{_CHINESE}]+|[^\W_{_CHINESE}]+")
_CHARACTER = re.compile(rf"([{_CHINESE}])")
_COMMON = frozenset(
    (  # noqa: SIM905  a list of words reads best as words
        "and are for from how into its large model models new our project projects research that the their this "
        "through towards under using via with system systems"
    ).split()
)
_COMMON_PAIRS = frozenset({"模型", "研究", "项目", "系统", "基于", "方法", "学习", "技术"})


@dataclass(frozen=True, slots=True)
class Similar:
    """``score`` from 0 to 1; ``words`` shared by name and goal, ``datasets`` shared as they are written.

    ``project.live_leads`` holds the memberships of its leads.
    """

    project: Project
    score: float
    words: Sequence[str]
    datasets: Sequence[str]


def similar_to(
    *,
    name: str,
    goal: str = "",
    datasets: Sequence[str] = (),
    among: QuerySet[Project],
    exclude: int | None = None,
    limit: int = 5,
) -> list[Similar]:
    """The registrations most like this one, most similar first; two statements.

    ``among`` decides what may be known: ``policies.visible_to`` for whoever registers, all for an approver.
    """
    # What is typed may be longer than a name can be; each trigram of it costs in every row that is compared.
    name = name.strip()[:MAX_NAME]
    ways = [Q(name_spaced__trigram_word_similar=piece) for piece in pieces(name)]
    if datasets:
        ways.append(Q(datasets__has_any_keys=list(datasets)))
    if not ways:
        return []
    near = TrigramSimilarity("name_spaced", _spaced(name))
    # One index scan for each way: joined by OR in one condition no index is used and every row is compared; nor is one
    # where any rows will do, so it is the nearest of each.
    known = among.exclude(pk=exclude or 0).order_by(near.desc(), "pk").values("pk")
    first, *others = [known.filter(way)[:MOST_PER_WAY] for way in ways]
    leads = Membership.objects.filter(role=ProjectRole.LEAD, left_at__isnull=True).select_related("person")
    rows = (
        Project.objects.filter(pk__in=first.union(*others) if others else first)
        .annotate(name_likeness=near)
        .prefetch_related(Prefetch("memberships", queryset=leads.order_by("joined_at", "pk"), to_attr="live_leads"))
    )
    found = [_weighed(row, name, goal, datasets) for row in rows]
    found.sort(key=lambda one: (-one.score, one.project.pk))
    # Words are looked for in those that are shown only: it costs far more than the weighing.
    alike = [one for one in found if one.score >= LEAST][:limit]
    return [_explained(one, name, goal) for one in alike]


def pieces(name: str) -> list[str]:
    """What is looked for in other names: the beginning of this one, and neighbours in it that mean something."""
    parts: list[str] = []
    latin: list[str] = []
    for run in _RUNS.findall(name):
        if _is_chinese(run):
            parts += [run[i : i + CHINESE_PIECE] for i in range(0, max(1, len(run) - CHINESE_PIECE + 1), 2)]
        elif len(run) >= SHORTEST and run.casefold() not in _COMMON:
            latin.append(run)
    parts += [" ".join(pair) for pair in pairwise(latin)]
    whole = [name.strip()[:WHOLE]] if name.strip() else []
    return [_spaced(part) for part in dict.fromkeys([*whole, *parts])][:MOST_PIECES]


def _weighed(row: Any, name: str, goal: str, datasets: Sequence[str]) -> Similar:
    """Each of the three alone can make two registrations alike; the name most, one dataset in common least."""
    theirs = [line for line in datasets if line in row.datasets]
    by_name = max(row.name_likeness, _share(terms(name), terms(row.name)))
    by_goal = _share(terms(goal), terms(row.goal))
    by_data = len(theirs) / max(1, min(len(datasets), len(row.datasets)))
    score = 1 - (1 - 0.95 * by_name) * (1 - 0.8 * by_goal) * (1 - 0.4 * by_data)
    return Similar(row, round(score, 3), (), theirs)


def _explained(one: Similar, name: str, goal: str) -> Similar:
    shared = _shared(f"{name}. {goal}", f"{one.project.name}. {one.project.goal}")
    return replace(one, words=shared[:MOST_WORDS])


def terms(text: str) -> list[str]:
    """The words that tell one text from another, in order: words of three letters or more, and Chinese pairs."""
    found: list[str] = []
    for run in _RUNS.findall(text.casefold()[:MOST_CHARACTERS]):
        if _is_chinese(run):
            found += [pair for pair in _pairs(run) if pair not in _COMMON_PAIRS]
        elif len(run) >= SHORTEST and run not in _COMMON:
            found.append(_stem(run))
    return list(dict.fromkeys(found))


def _share(ours: Sequence[str], theirs: Sequence[str]) -> float:
    """Twice what is common over both (Dice's coefficient); two words or more of the shorter text count by themselves,
    so that a long name does not hide a short one."""
    common = len(set(ours) & set(theirs))
    if not common:
        return 0.0
    of_shorter = HELD * common / min(len(ours), len(theirs)) if common > 1 else 0.0
    return max(2 * common / (len(ours) + len(theirs)), of_shorter)


def _shared(ours: str, theirs: str) -> list[str]:
    """What is common, as it stands in the first text; Chinese pairs that overlap are one word again."""
    common = set(terms(theirs))
    pairs = {pair for run in _RUNS.findall(theirs[:MOST_CHARACTERS]) if _is_chinese(run) for pair in _pairs(run)}
    found: list[str] = []
    for run in _RUNS.findall(ours[:MOST_CHARACTERS]):
        if _is_chinese(run):
            found += _joined(_pairs(run), pairs)
        elif _stem(run.casefold()) in common:
            found.append(run)
    by_word = {word.casefold(): word for word in reversed(found) if word not in _COMMON_PAIRS}
    return [
        word for key, word in reversed(by_word.items()) if not any(key in other and key != other for other in by_word)
    ]


def _joined(pairs: Sequence[str], common: set[str]) -> list[str]:
    """Runs of pairs that are common, each as the text that they make."""
    words = [""]
    for pair in pairs:
        if pair not in common:
            words.append("")
        else:
            words[-1] += pair[-1] if words[-1] else pair
    return [word for word in words if word]


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(max(1, len(run) - 1))]


def _stem(word: str) -> str:
    return word[:-1] if len(word) > SHORTEST and word.endswith("s") and not word.endswith("ss") else word


def _is_chinese(run: str) -> bool:
    return _CHARACTER.match(run) is not None


def _spaced(text: str) -> str:
    """As the database writes ``name_spaced``."""
    return _CHARACTER.sub(r" \1 ", text)
