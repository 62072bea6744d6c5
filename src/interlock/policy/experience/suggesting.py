"""Proposes narrow rules from the answers of people, each with its back-test.

Candidates come from approved questions: a command word for word; a command of a known shape with the options that
were approved; a tool on the files of a folder. A candidate that would have answered one question which a person
rejected or edited, or that would allow one harmful command, is withheld. Rules that allow can only add to each other,
so the candidates are tested together, and every part of the offered list is as safe as the whole.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct

from interlock.policy.experience.back_test import FOLDER, BackTest, harmful_corpus
from interlock.policy.experience.drafts import Draft, command_text, exact_draft, tool_draft, wide_draft
from interlock.policy.experience.shapes import Fit, fit_of
from interlock.policy.paths import CommandLocation, Private, path_objection
from interlock.policy.reading.words import Word
from interlock.policy.rule_files import failed_examples, read_rules
from interlock.policy.rules import Rule
from interlock.views.display import counted
from interlock.views.rules.experience import Question
from interlock.views.rules.learned_rules import Suggestion, Suggestions, Withheld

LEAST = 3
"""Approved questions that a rule must have answered to be offered."""
LEAST_EDITS = 50
"""The same for edits of files, which people refuse for their content, and a rule knows only the path.

After 50 approved edits and no refused one, the share of refused ones is below 6 % with 95 % confidence (3/n).
"""


class _Candidate(Struct, frozen=True):
    """`support`: the approved questions that have such a command. `covers`: the narrow drafts that it replaces."""

    draft: Draft
    support: frozenset[str]
    covers: frozenset[str] = frozenset()


def suggest(
    questions: Sequence[Question],
    rules: Sequence[Rule],
    private: Private,
    *,
    least: int = LEAST,
    taken: Callable[[str], bool] = lambda _: False,
) -> Suggestions:
    """The rules worth having; `taken` tells names that other rules have."""
    test = BackTest(rules, private, questions)
    wide, exact = _commands(test, private)
    candidates = [
        *sorted(wide, key=lambda one: -len(one.support)),
        *sorted(exact, key=lambda one: -len(one.support)),
        *_edits(test, max(least, LEAST_EDITS)),
    ]
    chosen: list[tuple[_Candidate, Rule, str]] = []
    withheld: list[Withheld] = []
    covered: set[str] = set()
    for one in candidates:
        draft = one.draft
        if len(one.support) < least or draft.exactly in covered or any(_has(rule, draft) for _, rule, _ in chosen):
            continue
        name = _name(draft, lambda text: taken(text) or any(rule.name == text for _, rule, _ in chosen))
        made = _rule(draft, name, test, private)
        if made is None:
            continue
        if why := _disqualified(test, [rule for _, rule, _ in chosen], made[0]):
            withheld.append(Withheld(draft.about, why))
            continue
        chosen.append((one, *made))
        covered |= one.covers
    return _reported(test, chosen, withheld, least)


# ── candidates ───────────────────────────────────────────────────────────────────────────


def _commands(test: BackTest, private: Private) -> tuple[list[_Candidate], list[_Candidate]]:
    """Wide candidates, by shape and beginning, and exact ones."""
    place = CommandLocation(FOLDER, FOLDER, "/users/me", private, FOLDER)
    exact: dict[str, tuple[Draft, set[str]]] = {}
    groups: dict[str, list[tuple[str, Fit, str]]] = {}
    for question in test.questions:
        if question.kind != "script" or question.reply != "approved":
            continue
        for command in test.open_commands(question):
            draft, text = exact_draft(command.words), command_text(command.words)
            if draft is not None:
                exact.setdefault(draft.exactly, (draft, set()))[1].add(question.id)
            fit = fit_of(command.words) if text is not None and command.literal else None
            if fit is not None and text is not None and not _leads_out(fit.operands[bool(fit.shape.first) :], place):
                groups.setdefault(fit.begin, []).append((question.id, fit, text))
    wide = [
        _Candidate(
            wide_draft([fit for _, fit, _ in group], [text for _, _, text in group]),
            frozenset(question for question, _, _ in group),
            frozenset(text for _, _, text in group),
        )
        for group in groups.values()
        if len({text for _, _, text in group}) > 1  # a single command is allowed word for word
    ]
    return wide, [_Candidate(draft, frozenset(ids)) for draft, ids in exact.values()]


def _leads_out(operands: Sequence[Word], place: CommandLocation) -> bool:
    return any(path_objection(word, place) for word in operands)


def _edits(test: BackTest, least: int) -> list[_Candidate]:
    """Candidates for tools on the files of a folder, the highest folder first; a file at the top by its own name."""
    found: dict[tuple[str, str], list[Question]] = {}
    for question in test.questions:
        if question.kind == "tool" and question.reply == "approved" and len(question.paths) == 1:
            names = question.paths[0].split("/")
            for depth in range(1, len(names)):
                found.setdefault((question.text, "/".join((*names[:depth], "**"))), []).append(question)
            found.setdefault((question.text, question.paths[0]), []).append(question)
    ordered = sorted(found.items(), key=lambda one: (one[0][1].count("/"), one[0]))
    return [
        _Candidate(tool_draft(tool, pattern, [q.paths[0] for q in group]), frozenset(q.id for q in group))
        for (tool, pattern), group in ordered
        if len(group) >= least
    ]


def _has(rule: Rule, draft: Draft) -> bool:
    """Whether a chosen rule about a folder includes the draft."""
    if not draft.tool or rule.tool != draft.tool:
        return False
    above = rule.paths[0].removesuffix("**")
    return rule.paths[0].endswith("/**") and draft.paths[0].startswith(above)


# ── judging ──────────────────────────────────────────────────────────────────────────────


def _rule(draft: Draft, name: str, test: BackTest, private: Private) -> tuple[Rule, str] | None:
    """The rule and its text, with examples that hold; None if an approved example is not matched."""
    (bare,) = read_rules(draft.toml(name), "the new rule", "user")
    if failed_examples([bare], private):
        return None
    refused: list[str] = []
    for script in () if draft.tool else test.refusals_about([draft.program]):
        text = draft.toml(name, [*refused, script])
        if not failed_examples(read_rules(text, "the new rule", "user"), private):
            refused.append(script)
        if len(refused) == 2:  # more examples would only be longer to read
            break
    text = draft.toml(name, refused)
    return read_rules(text, "the new rule", "user")[0], text


def _disqualified(test: BackTest, chosen: Sequence[Rule], rule: Rule) -> str:
    """Why the rule must not be offered beside the chosen ones; empty if it may."""
    if wrong := test.against(rule, chosen):
        ids = ", ".join(f"{question.id} ({question.reply})" for question in wrong[:3])
        return f"it would have answered {counted(len(wrong), 'question')} that a person refused or changed: {ids}"
    if harm := test.harm(rule, chosen):
        return f"it would allow {counted(len(harm), 'harmful command')}, such as: {harm[0].text}"
    return ""


def _reported(
    test: BackTest, chosen: Sequence[tuple[_Candidate, Rule, str]], withheld: Sequence[Withheld], least: int
) -> Suggestions:
    answered = {question.id: question for question in test.answered([rule for _, rule, _ in chosen])}
    useful = [
        (rule.name, one.draft.about, text, tuple(ids))
        for one, rule, text in chosen
        if len(ids := [name for name in answered if name in one.support]) >= least
    ]
    useful.sort(key=lambda one: (-len(one[3]), one[0]))
    offered = tuple(
        Suggestion(number, name, about, text, ids, max(answered[one].at for one in ids))
        for number, (name, about, text, ids) in enumerate(useful, 1)
    )
    return Suggestions(
        offered,
        tuple(withheld),
        len(test.questions),
        len({name for one in offered for name in one.answers}),
        sum(question.reply != "approved" for question in test.questions),
        len(harmful_corpus()),
    )


def _name(draft: Draft, taken: Callable[[str], bool]) -> str:
    word = "".join(character if character.isalnum() else "-" for character in draft.program).strip("-") or "rule"
    name, number = f"learned-{word}", 1
    while taken(name):
        number += 1
        name = f"learned-{word}-{number}"
    return name
