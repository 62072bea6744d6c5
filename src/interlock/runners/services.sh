# Starts services one after the other, each when the one before is ready. Then runs a command and exits with its code.
# All data comes as arguments, so that no text of a service is quoted here:
#   folder for files of the services, folder they start in, time for all of them, number of services,
#   for each service: name, port (0: none), port in hexadecimal, time until it is ready, ready check, command,
#   then the command with its arguments. Times are in hundredths of a second.
# Every name begins with `interlock_`, because assigning to a variable of the environment would change the command's.
exec 4>&2 2>/dev/null

# Writes to standard error what happened to the service, with the end of its output. services.py reads it there.
interlock_tell() {
  printf '\n[interlock services]\nthe service %s %s\n' "$interlock_name" "$1" >&4
  sleep 0.1 # the last output of a process that has just ended may still be in the pipe
  interlock_log=$interlock_own/log
  [ -s "$interlock_own/end" ] && interlock_log=$interlock_own/end
  if [ -s "$interlock_log" ]; then
    printf 'Its last output:\n' >&4
    tail -n 12 "$interlock_log" | tail -c 1500 >&4
  else
    printf 'It wrote nothing.\n' >&4
  fi
}

interlock_fail() {
  interlock_tell "$1"
  exit 125
}

# Whether a process listens on the service's port, by IPv4 or IPv6. This starts no program.
interlock_listens() {
  for interlock_table in /proc/net/tcp /proc/net/tcp6; do
    # shellcheck disable=SC2034  # the other columns are not used
    while read -r interlock_1 interlock_here interlock_2 interlock_state interlock_3; do
      case $interlock_here/$interlock_state in *:"$interlock_hex"/0A) return 0 ;; esac
    done <"$interlock_table"
  done
  return 1
}

# The stored output is bounded: the first part in `log`, and of the rest the last part in `end`.
interlock_start() {
  (umask 077 && mkdir -p "$interlock_own/data") || interlock_fail "has no folder: $interlock_own cannot be made."
  (
    (exec </dev/null 2>&1 4>&- && cd "$interlock_folder" && exec sh -c "$interlock_text")
    echo "$?" >"$interlock_own/exit"
  ) | {
    exec >/dev/null 4>&-
    if command -v stdbuf; then # otherwise `head` writes only when the service has ended
      stdbuf -o0 head -c 262144 >"$interlock_own/log"
    else
      head -c 262144 >"$interlock_own/log"
    fi
    tail -c 8192 >"$interlock_own/end"
  } &
}

# Whether the service's command has ended. A command that ends with 0 may have started a daemon.
interlock_ended() {
  [ -s "$interlock_own/exit" ] && read -r interlock_code <"$interlock_own/exit"
}

interlock_how() {
  interlock_words="exit code $interlock_code"
  [ "$interlock_code" -gt 128 ] && interlock_words="$interlock_words (signal $((interlock_code - 128)))"
}

# The time since the machine started, in hundredths of a second. This starts no program.
interlock_look() {
  # shellcheck disable=SC2034
  read -r interlock_up interlock_3 </proc/uptime
  interlock_now=${interlock_up%.*}${interlock_up#*.}
}

interlock_is_ready() {
  if [ -n "$interlock_ready" ]; then
    interlock_rest=$((interlock_until - interlock_now))
    (
      exec </dev/null >/dev/null 4>&-
      # The last digit is 1, because 0 would mean no limit.
      cd "$interlock_folder" &&
        timeout -s KILL "$((interlock_rest / 100)).$((interlock_rest % 100 / 10))1" sh -c "$interlock_ready"
    )
  elif [ "$interlock_port" != 0 ]; then
    interlock_listens
  fi
}

interlock_await() {
  interlock_look
  interlock_begun=$interlock_now
  interlock_until=$((interlock_begun + interlock_time))
  interlock_limit=
  if [ "$interlock_until" -gt "$interlock_last" ]; then
    interlock_until=$interlock_last
    interlock_limit=" The timeout of the command leaves no more time."
  fi
  [ "$interlock_until" -lt "$interlock_begun" ] && interlock_until=$interlock_begun
  while :; do
    interlock_is_ready
    interlock_answer=$?
    if interlock_ended; then
      interlock_how
      [ "$interlock_code" = 0 ] || interlock_fail "ended with $interlock_words before it was ready."
      : >"$interlock_own/detached"
    fi
    [ "$interlock_answer" = 0 ] && return
    interlock_look
    [ "$interlock_now" -lt "$interlock_until" ] || interlock_too_late
    sleep 0.05
  done
}

interlock_too_late() {
  interlock_words="its ready check does not succeed"
  [ -n "$interlock_ready" ] || interlock_words="nothing listens on port $interlock_port"
  [ -e "$interlock_own/detached" ] && interlock_words="its command has ended with exit code 0, and $interlock_words"
  interlock_time=$((interlock_until - interlock_begun))
  interlock_time=$((interlock_time / 100)).$((interlock_time % 100 / 10))
  interlock_fail "was not ready after ${interlock_time%.0} s: $interlock_words.$interlock_limit"
}

# Names the services that ended while the command ran.
interlock_tell_ended() {
  for interlock_name in $interlock_names; do
    interlock_own=$interlock_files/$interlock_name
    [ -e "$interlock_own/detached" ] && continue
    if interlock_ended; then
      interlock_how
      interlock_tell "ended with $interlock_words while the command ran."
    fi
  done
}

interlock_look
interlock_files=$1 interlock_folder=$2 interlock_last=$((interlock_now + $3)) interlock_left=$4 interlock_names=
shift 4
while [ "$interlock_left" -gt 0 ]; do
  interlock_name=$1 interlock_port=$2 interlock_hex=$3 interlock_time=$4 interlock_ready=$5 interlock_text=$6
  shift 6
  interlock_left=$((interlock_left - 1))
  interlock_own=$interlock_files/$interlock_name
  [ "$interlock_port" != 0 ] && interlock_listens &&
    interlock_fail "was not started: another process listens on port $interlock_port."
  interlock_start
  interlock_await
  interlock_names="$interlock_names $interlock_name"
done
(exec 2>&4 4>&- && exec "$@") # in a subshell, so that this shell does not report a signal to standard error
interlock_code=$?
if [ "$interlock_code" != 0 ]; then
  interlock_result=$interlock_code
  sleep 0.1 # a service that broke the command may not have ended yet
  interlock_tell_ended
  interlock_code=$interlock_result
fi
exit "$interlock_code"
