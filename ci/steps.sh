# shellcheck shell=bash
# What ci/check is made of: steps with a log each, counted into one total.

logs=build/check
# One compiler cache serves every checkout of the project on a machine.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
# Of one step, at the end of a check.
most_failures_told=20
total_passed=0
total_failed=0
failed_steps=()
failed_tests=() # "STEP: NAME: WHY"

count_junit() { # [--failures] JUNIT [STATUS]
  PYTHONPATH=$PWD /usr/bin/python3 -BP -m ci.jobs.steps.junit_count "$@"
}

# step NAME COMMAND...: runs the command into build/check/NAME.log and prints one line. If the command
# left build/check/NAME.xml (JUnit) its tests are counted one by one, otherwise the step counts as one.
step() {
  local name=$1 log="$logs/$1.log" junit="$logs/$1.xml" start=$SECONDS status=0 counts
  shift
  rm -f "$junit"
  "$@" >"$log" 2>&1 || status=$?
  counts=$(count_junit "$junit" "$status") || counts="0 1"  # a cut file counts as a failure
  local passed=${counts% *} failed=${counts#* }
  total_passed=$((total_passed + passed))
  total_failed=$((total_failed + failed))
  if ((failed == 0)); then
    printf '%-28s ok      %5d passed              %4d s\n' "$name" "$passed" $((SECONDS - start))
    return 0
  fi
  failed_steps+=("$name")
  local line
  while IFS= read -r line; do failed_tests+=("$name: $line"); done \
    < <(count_junit --failures "$junit" 2>/dev/null | head --lines=$most_failures_told)
  printf '%-28s FAILED  %5d passed %5d failed %4d s   %s\n' \
    "$name" "$passed" "$failed" $((SECONDS - start)) "$log"
  tail --lines=40 "$log" | sed 's/^/    /'
  return 1
}

# totals: the last lines of a check; fails if anything failed.
totals() {
  if ((total_failed)); then
    printf '\nfailed steps: %s\n' "${failed_steps[*]}"
    ((${#failed_tests[@]} == 0)) || printf '  %s\n' "${failed_tests[@]}"
  fi
  printf '\n%d passed, %d failed\n' "$total_passed" "$total_failed"
  ((total_failed == 0 && total_passed > 0))
}
