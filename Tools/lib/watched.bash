# Ends a run of tests that hangs, and says where. Source it; it defines functions and changes nothing.
# shellcheck shell=bash

# Minutes in which a run may print nothing. Tests that wait give up after 20, and say what they waited for.
patience=25

# watched PROGRAM ARGUMENT...: runs a program of tests and passes on what it prints. If that is nothing for too long, says which
# tests have not ended and, with gdb, what each thread does, and ends the program.
watched() {
  local output pid size=0 seen=0 since=$SECONDS status=0
  output=$(mktemp)
  # Swift Testing takes a pipe for a terminal.
  [[ -t 1 ]] || local -x NO_COLOR=1
  "$@" > >(tee "$output") 2>&1 &
  pid=$!
  trap 'kill "$pid" 2>/dev/null; rm -f "$output"; exit 143' TERM
  while kill -0 "$pid" 2>/dev/null; do
    sleep 1
    size=$(wc -c <"$output")
    if [[ $size -ne $seen ]]; then
      seen=$size since=$SECONDS
    elif [[ -z ${ESKER_THOROUGH:-} && $((SECONDS - since)) -ge $((patience * 60)) ]]; then
      {
        printf '\n%serror:%s for %d minutes no test has ended. Those that have begun:\n' "$red" "$plain" "$patience"
        unfinished "$output"
        ! has gdb || gdb --batch -p "$pid" -ex 'thread apply all backtrace 30' 2>/dev/null
      } >&2 || true
      kill -KILL "$pid" 2>/dev/null || true
      break
    fi
  done
  wait "$pid" || status=$?
  rm -f "$output"
  return "$status"
}

# unfinished OUTPUT: the tests of which Swift Testing said there that they started, and not that they ended.
unfinished() {
  sed -nE 's/.* (Test|Suite) ([^ ]+) started\.$/+ \1 \2/p; s/.* (Test|Suite) ([^ ]+) .*(passed|failed) after .*/- \1 \2/p' "$1" |
    awk '$1 == "+" { begun[$2 " " $3]++ } $1 == "-" { begun[$2 " " $3]-- } END { for (test in begun) if (begun[test] > 0) print test }' |
    LC_ALL=C sort
}
