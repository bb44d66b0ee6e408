# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
# shellcheck shell=bash
#
# The tiers of scripts/test. Each tier_NAME prints what it does, returns non-zero when it failed, and tells its
# counts with count PASSED FAILED SKIPPED.

passed=0 failed=0 skipped=0
lines=()

count() {
  tier_passed=$((tier_passed + $1))
  tier_failed=$((tier_failed + $2))
  tier_skipped=$((tier_skipped + $3))
}

run_tier() {
  local tier=$1 start=$SECONDS status=0
  tier_passed=0 tier_failed=0 tier_skipped=0
  echo "=== $tier"
  "tier_$tier" || status=$?
  # A tier that broke before it could count is one failure.
  if [[ $status -ne 0 && $tier_failed -eq 0 ]]; then tier_failed=1; fi
  if [[ $((tier_passed + tier_failed + tier_skipped)) -eq 0 ]]; then
    echo "$tier: no test ran" && tier_failed=1
  fi
  passed=$((passed + tier_passed)) failed=$((failed + tier_failed)) skipped=$((skipped + tier_skipped))
  lines+=("$(printf '%-10s %5d passed %3d failed %3d skipped %4d s' \
    "$tier" "$tier_passed" "$tier_failed" "$tier_skipped" $((SECONDS - start)))")
}

summary() {
  echo
  printf '%s\n' "${lines[@]}"
  echo "$passed passed, $failed failed, $skipped skipped"
  [[ $failed -eq 0 ]]
}

# check NAME COMMAND...: one test of the lint tier.
check() {
  local name=$1 && shift
  if "$@"; then
    echo "ok      $name" && count 1 0 0
  else
    echo "FAILED  $name" && count 0 1 0
  fi
}

# logged LOG FILTER COMMAND...: runs a command, keeps its output in LOG, shows the lines that do not match FILTER, and
# returns the command's status (a pipe alone would return grep's).
logged() {
  local log=$1 filter=$2 && shift 2
  local status=0
  { "$@" 2>&1 || echo $? >"$log.status"; } | tee "$log" | { grep -vE "$filter" || true; }
  if [[ -e $log.status ]]; then status=$(<"$log.status") && rm -f "$log.status"; fi
  return "$status"
}

# sum FILE PATTERN: adds up the numbers in what matches PATTERN.
sum() { { grep -oE "$2" "$1" || true; } | { grep -oE '[0-9]+' || true; } | awk '{n += $1} END {print n + 0}'; }

# Runs CTest in build/PRESET and counts.
run_ctest() {
  local preset=$1 log status=0 total bad skips && shift
  log=$(mktemp)
  logged "$log" '^ *(Start|[0-9]+/[0-9]+ Test .*Passed)' \
    ctest --test-dir "build/$preset" --output-on-failure --parallel "$(nproc)" "$@" || status=$?
  total=$(sum "$log" 'out of [0-9]+')
  bad=$(sum "$log" '[0-9]+ tests failed')
  skips=$(grep -cE 'Test .*\*\*\*Skipped' "$log" || true)
  count $((total - bad)) "$bad" "$skips"
  rm -f "$log"
  return "$status"
}

# Runs a command that ends as Python's unittest does, and counts. 77 means that the whole was skipped.
run_unittest() {
  local log status=0 total bad skips
  log=$(mktemp)
  logged "$log" ' \.\.\. ok$' "$@" || status=$?
  if [[ $status -eq 77 ]]; then
    count 0 0 1 && rm -f "$log" && return 0
  fi
  total=$(sum "$log" '^Ran [0-9]+ tests?')
  bad=$(grep -E '^FAILED \(' "$log" | sed 's/skipped=[0-9]*//; s/expected failures=[0-9]*//' >"$log.bad" || true
    sum "$log.bad" '(failures|errors)=[0-9]+')
  skips=$(sum "$log" 'skipped=[0-9]+')
  rm -f "$log" "$log.bad"
  [[ $bad -le $total ]] || bad=$total  # subtests of one test count apart
  count $((total - bad - skips)) "$bad" "$skips"
  return "$status"
}

# The lab's kernel modules are in the kernel's style.
sources() { git ls-files '*.cpp' '*.h' ':!tests/lab/modules'; }
shell_scripts() { git grep -lE '^#!/bin/(ba)?sh' -- scripts tests deploy .ci; }

clang_format_is_clean() { sources | xargs clang-format --dry-run --Werror; }
shellcheck_is_clean() { shell_scripts | xargs shellcheck -x; }

# The project speaks of itself alone: no path of a machine it was written on, no registry's host.
speaks_of_itself_alone() {
  ! git grep -nEI '/work/(main|shared)|/tmp/brief|deb\.debian\.org|registry\.npmjs\.org|\b(subagent|Claude|ChatGPT)\b' \
    -- . ':!tests/tools/tiers.sh'
}

tier_lint() {
  check "clang-format" clang_format_is_clean
  check "shellcheck" shellcheck_is_clean
  check "speaks of itself alone" speaks_of_itself_alone
  check "every header compiles alone" scripts/build release check_headers
}

tier_unit() {
  scripts/build release all
  run_ctest release -LE contract
  run_unittest /usr/bin/python3 -m unittest discover -s tests/tools -t .
}

tier_contract() {
  scripts/build release all
  run_ctest release -L contract
}

tier_e2e() {
  scripts/build release rdma_exporter
  run_unittest tests/e2e/run
}

tier_sanitizers() {
  scripts/build asan all
  run_ctest asan
  scripts/build tsan core_test scrape_test net_test
  run_ctest tsan -R '^(Engine|WorkerPool|Slot|Server|Session|HttpCounters|Histogram)'
}

tier_fuzz() {
  local log status=0
  log=$(mktemp)
  logged "$log" '^$' tests/fuzz/run "${TEST_FUZZ_SECONDS:-10}" || status=$?
  count "$(sum "$log" '^[0-9]+ passed')" "$(sum "$log" '[0-9]+ failed$')" 0
  rm -f "$log"
  return "$status"
}

tier_deploy() {
  scripts/build release rdma_exporter
  run_unittest tests/deploy/run
}

tier_lab() {
  scripts/build release rdma_exporter qpactor probe_lab_test
  scripts/build asan rdma_exporter probe_lab_test
  run_unittest tests/lab/run
}
