# shellcheck shell=bash
# What ci/check and ci/nightly are made of: steps with a log each, one after another or side by side, counted
# into one total. A failure does not end the script: `totals` fails, at the end.

logs=${logs:-build/check}
# One compiler cache serves every checkout of the project on a machine.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
# Steps start thousands of Python processes: they share what is compiled, outside of the source folders, and
# whatever the caller's environment says.
unset PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX=$PWD/build/pycache
# Of one step, at the end of a check.
most_failures_shown=20
# Lines of its log that are shown of a step that failed.
shown_lines=40
# The same again at the end of a check, if the step has no tests with names: the logs of others stand between.
last_lines=8
# How much a step in the foreground gives way while another runs beside it.
polite_nice=10
total_passed=0
total_failed=0
failed_steps=()
failures=() # "STEP: NAME: WHY" of a failed test, "STEP: LINE" of a log
declare -A pids=() # of steps that were started and not yet collected

count_junit() { # [--failures] JUNIT [STATUS]
  PYTHONPATH=$PWD /usr/bin/python3 -BP -m ci.jobs.steps.junit_count "$@"
}

# Seconds and processor seconds of a step, for its line; runs when the step's process ends.
note_time() { # NAME START
  local used
  times >"$logs/$1.time" # not in a pipe, whose process has used none
  used=$(awk '{ for (i = 1; i <= 2; i++) { split($i, part, /[ms]/); cpu += part[1] * 60 + part[2] } }
    END { printf "%.0f", cpu }' "$logs/$1.time")
  echo "$((EPOCHSECONDS - $2)) $used" >"$logs/$1.time"
}

# start NAME COMMAND...: runs the command in a process group of its own, into NAME.log. The first part of it that
# fails ends it, unless this is called where bash ignores failures (`start ... || true`). `collect NAME` waits for it.
start() {
  local name=$1 nice=${step_nice:-0}
  shift
  rm -f "$logs/$name".{xml,time}
  set -m # a group of its own, in which Ctrl-C is not ignored
  (
    set +m
    # shellcheck disable=SC2064 # these values, now
    trap "note_time '$name' '$EPOCHSECONDS'" EXIT
    ((nice == 0)) || renice --priority $(($(nice) + nice)) --pid "$BASHPID" >&3
    "$@"
  ) >"$logs/$name.log" 2>&1 3>/dev/null </dev/null &
  pids[$name]=$!
  set +m
}

# collect NAME: waits for the end of a step and prints one line. If the command left NAME.xml (JUnit) its tests
# are counted one by one, otherwise the step counts as one.
collect() {
  local name=$1 log="$logs/$1.log" junit="$logs/$1.xml" status=0 counts seconds='?' cpu='?'
  wait "${pids[$name]}" || status=$?
  unset "pids[$name]"
  counts=$(count_junit "$junit" "$status") || counts="0 1" # a cut file counts as a failure
  [[ ! -f $logs/$name.time ]] || read -r seconds cpu <"$logs/$name.time" || true
  local passed=${counts% *} failed=${counts#* }
  total_passed=$((total_passed + passed))
  total_failed=$((total_failed + failed))
  if ((failed == 0)); then
    printf '%-28s ok      %5d passed              %4s s %5s cpu s\n' "$name" "$passed" "$seconds" "$cpu"
    return 0
  fi
  failed_steps+=("$name")
  local reasons line
  reasons=$(count_junit --failures "$junit" 2>/dev/null | head --lines=$most_failures_shown) || true
  [[ $reasons ]] || reasons=$(tail --lines=$last_lines "$log")
  while IFS= read -r line; do failures+=("$name: $line"); done <<<"$reasons"
  printf '%-28s FAILED  %5d passed %5d failed %4s s %5s cpu s   %s\n' \
    "$name" "$passed" "$failed" "$seconds" "$cpu" "$log"
  tail --lines=$shown_lines "$log" | sed 's/^/    /'
}

# step NAME COMMAND...: a step that nothing waits beside; steps that run beside it have the processors first.
step() {
  local step_nice=0
  ((${#pids[@]} == 0)) || step_nice=$polite_nice
  start "$@"
  collect "$1"
}

# needed NAME COMMAND...: a step without which no other means anything. If it fails, the check ends, and the step's
# log is the last that it shows.
needed() {
  local failed=$total_failed
  step "$@"
  ((total_failed > failed)) || return 0
  stop_steps
  printf '\nended by step %s: the others need it\n' "$1"
  exit 1
}

# Ends what still runs; for a trap.
stop_steps() {
  local pid
  for pid in "${pids[@]}"; do kill -- "-$pid" 2>/dev/null || true; done
}

# totals: the last lines of a check. Collects what still runs; fails if anything failed.
totals() {
  local name
  for name in "${!pids[@]}"; do
    collect "$name"
  done
  if ((total_failed)); then
    printf '\nfailed steps: %s\n' "${failed_steps[*]}"
    printf '  %s\n' "${failures[@]}"
  fi
  printf '\n%d passed, %d failed\n' "$total_passed" "$total_failed"
  ((total_failed == 0 && total_passed > 0))
}
