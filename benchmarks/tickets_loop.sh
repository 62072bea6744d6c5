#!/bin/sh
# The git and sandbox commands of real tickets, without a journal, approvals or recovery.
# usage: tickets_loop.sh REPOSITORY TREES COUNT AT_ONCE; SCRIPT and GATE are in the environment
set -eu

inside() { # FOLDER COMMAND
    bwrap --unshare-all --die-with-parent --new-session --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp \
        --bind "$1" "$1" --ro-bind "$1/.git" "$1/.git" --chdir "$1" sh -c "$2" </dev/null
}

ticket() { # REPOSITORY TREES NAME
    export INTERLOCK_TICKET="$3"
    tree="$2/$3"
    cd "$1"
    flock "$2/.list" git worktree add --quiet --detach "$tree" track # git fails at an entry that is half made
    inside "$tree" "$SCRIPT"
    git -C "$tree" add --all
    git -C "$tree" commit --quiet --message "Do it"
    commit=$(git -C "$tree" rev-parse HEAD)
    inside "$tree" "$GATE"
    exec 9>"$2/.lock"
    flock 9
    tip=$(git rev-parse track)
    merged=$(git merge-tree --write-tree "$tip" "$commit")
    git update-ref refs/heads/track "$(git commit-tree -p "$tip" -m "Do it" "$merged")" "$tip"
    exec 9>&-
    flock "$2/.list" git worktree remove --force "$tree"
}

if [ "$#" -eq 3 ]; then
    ticket "$@"
    exit
fi
git -C "$1" branch track
seq -f 'T-%04.0f' 0 $(($3 - 1)) | xargs -P "$4" -I '{}' "$0" "$1" "$2" '{}'
