#!/usr/bin/env bash
# The host's memory runs out, at whatever moment: the run says so in one line and exits with 1; it neither crashes nor
# hangs nor gives another reason.
source "$(dirname "$0")/tap.sh"

if ! (ulimit -v 4000000 && "$pagewalk" --version) >.version 2>&1; then
  echo '1..0 # SKIP this build needs more addresses than a limit could allow, as those with sanitizers do'
  exit
fi

# The last run has succeeded, or has said that memory is out.
says_so() {
  [ "$code" = 0 ] || is_error 1 'out of memory'
}

# limits NAME FIRST STEP LAST ARGUMENTS...: runs with each limit; some must be too little in the middle of the
# simulation, and the last must be enough.
limits() {
  local name=$1 first=$2 step=$3 last=$4 limit
  shift 4
  : >.reasons
  for ((limit = first; limit <= last; limit += step)); do
    (ulimit -v "$limit" && exec timeout 60 "$pagewalk" run -q --json /dev/null "$@") >.stdout 2>.stderr
    code=$?
    cat .stderr >>.reasons
    says_so >.why 2>&1 || { echo "$limit KB: $(cat .why) $(cat .stderr)"; return 1; }
  done
  grep -q 'out of memory for events and requests' .reasons || { echo "no limit was reached in the middle"; return 1; }
  [ "$code" = 0 ] || { echo "$last KB were not enough"; return 1; }
}

while IFS='|' read -r name first step last arguments; do
  # shellcheck disable=SC2086
  check "$name: memory that runs out is said to" limits "$name" "$first" "$step" "$last" $arguments
done <<'LIST'
a stencil|10000|1000|80000|-w HS:scale=0.1
a suffix tree|10000|1500|90000|-w MUM:scale=0.01
a graph|10000|4000|90000|-w BFS2:scale=0.02
three applications|20000|5000|100000|-w HS:scale=0.02,MUM:scale=0.005,vecadd:ctas=8
demand paging|60000|1000|90000|-m pascal -d uvm-tbn-tbn -w nw:size=uvm:scale=0.1 --set uvm.oversubscription=110
large pages|20000|4000|120000|-d mosaic -w HS:scale=0.05
windows and breakdown|20000|4000|120000|-w HS:scale=0.05 --breakdown --interval 100
LIST
finish
