# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
# shellcheck shell=bash
#
# The tiers of scripts/test. Each tier_NAME prints what it does with its five slowest tests, returns non-zero when it
# failed, and tells its counts with count PASSED FAILED SKIPPED.

passed=0 failed=0 skipped=0
lines=()
left_out=()

count() {
  tier_passed=$((tier_passed + $1))
  tier_failed=$((tier_failed + $2))
  tier_skipped=$((tier_skipped + $3))
}

run_tier() {
  local tier=$1 start=$SECONDS status=0 total processor
  times >build/times.before
  tier_passed=0 tier_failed=0 tier_skipped=0 tier_build=0
  echo "=== $tier"
  "tier_$tier" || status=$?
  # A tier that broke before it could count is one failure.
  if [[ $status -ne 0 && $tier_failed -eq 0 ]]; then tier_failed=1; fi
  if [[ $((tier_passed + tier_failed + tier_skipped)) -eq 0 ]]; then
    echo "$tier: no test ran" && tier_failed=1
  fi
  passed=$((passed + tier_passed)) failed=$((failed + tier_failed)) skipped=$((skipped + tier_skipped))
  total=$((SECONDS - start))
  times >build/times.after
  processor=$(($(processor_seconds build/times.after) - $(processor_seconds build/times.before)))
  lines+=("$(printf '%-9s %5d passed %3d failed %3d skipped %5s = build %5s + tests %5s, processor %5s' "$tier" "$tier_passed" \
    "$tier_failed" "$tier_skipped" "$(minutes $total)" "$(minutes $tier_build)" "$(minutes $((total - tier_build)))" \
    "$(minutes $processor)")")
}

# Of all that a shell had waited for, on all processors together, by what its `times` printed (a substitution or a pipe would
# ask another shell).
processor_seconds() { awk 'NR == 2 {gsub(/[ms]/, " "); print int($1 * 60 + $2 + $3 * 60 + $4)}' "$1"; }

minutes() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

summary() {
  echo
  printf '%s\n' "${lines[@]}"
  printf 'took %s minutes\n' "$(minutes $SECONDS)"
  [[ ${#left_out[@]} -eq 0 ]] || printf 'left out: %s\n' "${left_out[@]}"
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
  { "$@" 2>&1 || echo $? >"$log.status"; } | tee "$log" | { grep --line-buffered -vE "$filter" || true; }
  if [[ -e $log.status ]]; then status=$(<"$log.status") && rm -f "$log.status"; fi
  return "$status"
}

# sum FILE PATTERN: adds up the numbers in what matches PATTERN.
sum() { { grep -oE "$2" "$1" || true; } | { grep -oE '[0-9]+' || true; } | awk '{n += $1} END {print n + 0}'; }

# Compiles, apart from the time of the tests. What fails to build ends the tier.
build() { # PRESET TARGET...
  local start=$SECONDS status=0 where=()
  [[ $1 != arm64* ]] || where=(scripts/arm64)
  "${where[@]}" scripts/build "$@" || status=$?
  tier_build=$((tier_build + SECONDS - start))
  return "$status"
}

# Runs a command whose last line is "N passed, N failed, N skipped", and counts.
run_counted() { # COMMAND...
  local log status=0 last
  log=$(mktemp)
  "$@" 2>&1 | tee "$log" || status=${PIPESTATUS[0]}
  last=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1)
  count "$(sum <(echo "$last") '[0-9]+ passed')" "$(sum <(echo "$last") '[0-9]+ failed')" \
    "$(sum <(echo "$last") '[0-9]+ skipped')"
  rm -f "$log"
  return "$status"
}

# Runs the test binaries of build/PRESET that have the label, and counts. None with that label is a failure.
run_ctest() { # PRESET LABEL [COMMAND that runs ctest elsewhere]
  local preset=$1 label=$2 log status=0 shards
  log=$(mktemp)
  rm -rf "build/$preset/results"
  logged "$log" '^ *(Start|[0-9]+/[0-9]+ Test .*Passed)' \
    "${@:3}" ctest --test-dir "build/$preset" --output-on-failure --parallel "$(nproc)" --no-tests=error --label-regex "^$label\$" ||
    status=$?
  shards=$(sum "$log" 'out of [0-9]+')
  rm -f "$log"
  run_counted tests/tools/gtest_results.py "build/$preset/results" "$shards" || status=$?
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

# Files of these patterns that git knows; with LINT_SINCE=REVISION only those that changed since.
files() {
  git ls-files -- "$@" | if [[ -n ${LINT_SINCE:-} ]]; then
    grep -Fxf <(git diff --name-only --diff-filter=d "$LINT_SINCE") || true
  else
    cat
  fi
}

# The lab's kernel modules are in the kernel's style.
clang_format_is_clean() {
  files '*.cpp' '*.h' ':!tests/lab/modules' | xargs --no-run-if-empty clang-format --dry-run --Werror
}

shellcheck_is_clean() {
  files scripts tests deploy .ci | xargs --no-run-if-empty grep -d skip -lsE '^#!/(usr/)?bin/(env )?(ba)?sh' |
    xargs --no-run-if-empty shellcheck -x
}

# Where "what changed" begins for checks that take as long as a build: LINT_SINCE, the last release, or, where a shallow
# clone has none, the last 20 commits.
recent_base() {
  [[ -z ${LINT_SINCE:-} ]] || { echo "$LINT_SINCE" && return; }
  git describe --tags --abbrev=0 2>/dev/null || git rev-parse --quiet --verify HEAD~20 ||
    git rev-list --max-parents=0 HEAD | tail -n 1
}

# Files that exist of these patterns and changed since a revision, what changed last first.
recently_changed() { # REVISION PATTERN...
  local since=$1 && shift
  { git diff --name-only --diff-filter=d HEAD -- "$@" && git log --format= --name-only --diff-filter=d "$since..HEAD" -- "$@"; } |
    awk '!seen[$0]++' | while read -r file; do [[ ! -e $file ]] || echo "$file"; done
}

# At most 40, which a slow machine compiles in a minute; scripts/test long looks at all of them.
changed_headers_compile_alone() {
  local header stubs=()
  for header in $(recently_changed "$(recent_base)" 'src/*.h' 'collectors/*.h' | head -n 40 || true); do
    stubs+=("CMakeFiles/check_headers.dir/check_headers/${header//[^A-Za-z0-9]/_}.cpp.o")
  done
  [[ ${#stubs[@]} -eq 0 ]] || build asan "${stubs[@]}"
}

clang_tidy_is_clean() { # [FILE...]
  cmake --preset tidy >build/tidy.log 2>&1 || { cat build/tidy.log && return 1; }
  tests/tools/tidy "$@"
}

# At most 16, of which one takes 7 s; scripts/test long looks at all of them.
changed_sources_are_tidy() {
  local sources
  mapfile -t sources < <(recently_changed "$(recent_base)" src collectors | sed 's/\.h$/.cpp/' | grep '\.cpp$' |
    awk '!seen[$0]++' | head -n 16 || true)
  [[ ${#sources[@]} -eq 0 ]] || clang_tidy_is_clean "${sources[@]}"
}

tier_lint() {
  check "clang-format" clang_format_is_clean
  check "shellcheck" shellcheck_is_clean
  check "spelling and wording of documents" tests/tools/prose
  check "links of documents lead somewhere, and the site builds" scripts/docs
  check "headers that changed last compile alone" changed_headers_compile_alone
  check "clang-tidy, the sources that changed last" changed_sources_are_tidy
}

tier_headers() { check "every header compiles alone" build asan check_headers; }

tier_unit() {
  build asan test_binaries || return
  run_ctest asan unit
  run_unittest /usr/bin/python3 -m unittest discover -s tests/tools -t .
}

tier_contract() {
  build asan test_binaries || return
  run_ctest asan contract
}

tier_threads() {
  build tsan threads_test_binaries || return
  run_ctest tsan threads
}

# The sanitizers watch all that the tests do; bounds on time and memory hold for what ships.
tier_e2e() {
  build release rdma_exporter || return
  build asan rdma_exporter || return
  RDMA_EXPORTER=build/asan/rdma_exporter RDMA_EXPORTER_TIMED=build/release/rdma_exporter run_unittest tests/e2e/run
}

fuzz_amount=("${TEST_FUZZ_SECONDS:-3}")  # for each target

tier_fuzz() {
  local log status=0 start=$SECONDS
  scripts/build fuzz fuzz_targets >build/fuzz.log 2>&1 || { tail -n 40 build/fuzz.log && return 1; }
  tier_build=$((SECONDS - start))
  log=$(mktemp)
  logged "$log" '^$' tests/fuzz/run "${fuzz_amount[@]}" || status=$?
  count "$(sum "$log" '^[0-9]+ passed')" "$(sum "$log" '[0-9]+ failed$')" 0
  rm -f "$log"
  return "$status"
}

tier_deploy() {
  build release rdma_exporter package_files || return
  build portable rdma_exporter package_files || return
  TEST_SILENCE=900 run_unittest tests/deploy/run  # the packages are built twice, and by one test alone
}

not_under_qemu=
skip_under_qemu() { # TESTS REASON
  not_under_qemu+=${not_under_qemu:+:}$1
  echo "SKIPPED $1: qemu's user mode: $2" && count 0 0 1
}

# Cross-compiled, under qemu.
tier_arm64() {
  build arm64 rdma_exporter package_files test_binaries || return
  skip_under_qemu 'EventSocketTest.*:NetlinkSocket.*' "it has no sockets of NETLINK_USERSOCK"
  skip_under_qemu 'HttpSessionTime.*' "they measure some 10 ms, in which it is still translating"
  skip_under_qemu 'ProcessMetrics.TellsOf*:ProcessMetrics.Counts*:ProcessMetrics.Sees*' "most fields of its /proc/self/stat are 0"
  local page
  for page in 4096 65536; do  # of the kernel; Grace's has 64 kB
    QEMU_PAGESIZE=$page GTEST_FILTER="-$not_under_qemu" run_ctest arm64 unit scripts/arm64
  done
  run_ctest arm64 contract scripts/arm64
  RDMA_EXPORTER=tests/tools/under_qemu run_unittest tests/e2e/run --no-timing values formats replay test_http
  build release rdma_exporter package_files || return
  build portable rdma_exporter package_files || return
  TEST_ARM64=1 TEST_SILENCE=3600 run_unittest tests/deploy/run test_arm64
}

tier_lab() {
  build release rdma_exporter qpactor || return
  build portable rdma_exporter || return
  build asan rdma_exporter probe_lab_test || return
  run_unittest tests/lab/run
}

# --- scripts/test quick and long

# Compared with the branch that this one follows, or with the last commit.
change_base() { git merge-base HEAD '@{upstream}' 2>/dev/null || git rev-parse --quiet --verify HEAD~1 || git rev-parse HEAD; }

plan_quick() {
  # shellcheck disable=SC2034  # of scripts/test
  tiers=(lint unit contract e2e_quick)
  LINT_SINCE=$(change_base)
  left_out=("lint of what did not change since ${LINT_SINCE:0:12}" "the slow half of e2e and its timing tests"
    "the tiers deploy, threads, fuzz and lab (scripts/test runs them)"
    "what only scripts/test long runs")
}

tier_e2e_quick() {
  build asan rdma_exporter || return
  RDMA_EXPORTER=build/asan/rdma_exporter run_unittest tests/e2e/run --quick --no-timing
}

plan_long() {
  # shellcheck disable=SC2034
  tiers=(headers tidy mutants image arm64 soak fleet fuzz bench lab_full)
  fuzz_amount=(--total "${TEST_FUZZ_INPUTS:-100000000}")
}

tier_tidy() { run_counted clang_tidy_is_clean; }

tier_mutants() { run_counted tests/tools/mutants/run --e2e; }

# That it works; whether it reaches its targets is asked with --check.
tier_bench() { check "the bench runs" scripts/bench; }

# The image as a user builds it, compiler and all.
tier_image() { TEST_IMAGE_COMPILES=1 TEST_SILENCE=3600 run_unittest tests/deploy/run test_image; }

# Thousands of what the other tests do some ten or hundred times.
tier_soak() {
  build release rdma_exporter || return
  build asan rdma_exporter || return
  TEST_RELOADS=10000 TEST_FAULTS=1000 TEST_SILENCE=14400 RDMA_EXPORTER=build/asan/rdma_exporter \
    RDMA_EXPORTER_TIMED=build/release/rdma_exporter run_unittest tests/e2e/run test_soak
}

# The alerts on a whole day of 500 hosts, a minute for a minute: 57 million samples.
tier_fleet() {
  build release rdma_exporter || return
  TEST_FLEET=500 TEST_DAY=1440 TEST_SILENCE=7200 RDMA_EXPORTER=build/release/rdma_exporter run_unittest tests/e2e/run test_alert_day
}

tier_lab_full() {
  build release rdma_exporter qpactor || return
  build portable rdma_exporter || return
  build asan rdma_exporter probe_lab_test || return
  LAB_SCRAPES=10000 LAB_REPLUGS=1000 LAB_CHURN_SCRAPES=100000 LAB_CLOCK_JUMPS=1000 LAB_TIMEOUT=43200 \
    run_unittest tests/lab/run --all
}
