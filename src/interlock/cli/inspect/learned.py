"""`interlock policy suggest`, `rules` and `forget`: rules from experience."""

import sys

from msgspec import to_builtins

from interlock.assembly.lasting_rules import accept_rule, forget_rule, remembered_rules, rule_file, suggested_rules
from interlock.assembly.project import Project, read_state
from interlock.cli.arguments import CommandArgs
from interlock.cli.terminal.exits import DONE
from interlock.cli.terminal.output import paint, say, say_json, table
from interlock.cli.terminal.sessions import project_of
from interlock.errors import BadValue
from interlock.views.display import one_line, safe
from interlock.views.rules.learned_rules import KeptRule, Suggestion, Suggestions

_MOST_IDS = 5


class SuggestArgs(CommandArgs, frozen=True):
    accept: tuple[str, ...]
    everywhere: bool
    least: int


class ForgetArgs(CommandArgs, frozen=True):
    rule: str


def suggest(args: SuggestArgs) -> int:
    project = project_of(args)
    if args.least < 1:
        raise BadValue("--min is a number from 1")
    if args.everywhere and not args.accept:
        raise BadValue("--everywhere says where the rules of --accept count; give both")
    state = read_state(project)
    found = suggested_rules(project, state, args.least)
    if args.accept:
        return _accept(project, _chosen(found, args.accept), args)
    stale = [rule for rule in remembered_rules(project, state) if rule.stale]
    if args.json:
        say_json({**to_builtins(found), "stale": to_builtins(stale)})
    else:
        _print(found, stale)
    return DONE


def rules(args: CommandArgs) -> int:
    project = project_of(args)
    kept = remembered_rules(project, read_state(project))
    if args.json:
        say_json(to_builtins(kept))
    elif not kept:
        say("you have no rules of your own; 'interlock policy suggest' proposes some")
    else:
        table(
            ("N", "WHERE", "VERDICT", "RULE", "ABOUT", "USED"),
            [
                (
                    str(rule.number),
                    "everywhere" if rule.everywhere else "here",
                    rule.verdict,
                    rule.name,
                    rule.about,
                    rule.used,
                )
                for rule in kept
            ],
        )
        _say_stale([rule for rule in kept if rule.stale])
    return DONE


def forget(args: ForgetArgs) -> int:
    project = project_of(args)
    rule = forget_rule(project, read_state(project), args.rule)
    if args.json:
        say_json(to_builtins(rule))
    else:
        say(f"forgot {safe(rule.name)} ({safe(rule.about)}): from now on it asks again")
    return DONE


def _chosen(found: Suggestions, numbers: tuple[str, ...]) -> list[Suggestion]:
    if numbers == ("all",):
        return list(found.offered)
    by_number = {str(one.number): one for one in found.offered}
    if missing := [number for number in numbers if number not in by_number]:
        raise BadValue(f"there is no suggestion {missing[0]!r}; 'interlock policy suggest' lists them by number")
    return [by_number[number] for number in dict.fromkeys(numbers)]


def _accept(project: Project, chosen: list[Suggestion], args: SuggestArgs) -> int:
    """Shows each rule before it is stored."""
    file = rule_file(project, everywhere=args.everywhere)
    where = "for all projects" if args.everywhere else "for this project"
    for one in chosen:
        say(f"new rule {where} in {safe(str(file))}:\n\n{safe(one.rule)}", sys.stderr)
        accept_rule(project, one.rule, everywhere=args.everywhere)
    if args.json:
        say_json({"accepted": [to_builtins(one) for one in chosen]})
    elif chosen:
        names = ", ".join(one.name for one in chosen)
        say(f"accepted: {safe(names)}; 'interlock policy forget NAME' takes one back")
    else:
        say("there is nothing to accept")
    return DONE


def _print(found: Suggestions, stale: list[KeptRule]) -> None:
    if found.offered:
        table(
            ("N", "ANSWERS", "RULE", "ABOUT", "PAST QUESTIONS"),
            [
                (str(one.number), str(len(one.answers)), one.name, one_line(one.about, 70), _ids(one.answers))
                for one in found.offered
            ],
        )
    for one in found.withheld:
        say(paint(f"not offered: {safe(one_line(one.about, 70))}: {safe(one_line(one.why, 160))}", "dim"))
    say(found.sentence)
    _say_stale(stale)
    if found.offered:
        say("'interlock policy suggest --accept N' stores a rule, '--json' shows the rules as text")


def _say_stale(stale: list[KeptRule]) -> None:
    for rule in stale:
        say(
            paint(
                f"stale: {safe(rule.name)} answered nothing for 30 days; 'interlock policy forget {rule.number}'",
                "waiting",
            )
        )


def _ids(ids: tuple[str, ...]) -> str:
    shown = ", ".join(ids[:_MOST_IDS])
    return f"{shown} …" if len(ids) > _MOST_IDS else shown
