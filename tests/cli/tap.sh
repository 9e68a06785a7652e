# What the command-line tests share: TAP on standard output, a folder of their own, runs of $pagewalk with everything
# that it does recorded. Source it with the program as the first argument.
set -u
export LC_ALL=C
export PAGEWALK_PROGRESS=0 # however slow the machine
pagewalk=$(realpath "$1")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source_root=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# A workload that every machine runs in a moment.
small=vecadd:ctas=4:iterations=1
tests=0
failures=0

# check NAME COMMAND...: one test case; it passes when the command succeeds.
check() {
  local name=$1
  shift
  tests=$((tests + 1))
  if "$@" >"$work/.check" 2>&1; then
    echo "ok $tests - $name"
  else
    failures=$((failures + 1))
    echo "not ok $tests - $name"
    sed 's/^/# /' "$work/.check"
    [ -e "$work/.stderr" ] && sed 's/^/# stderr: /' "$work/.stderr"
  fi
}

# run ARGUMENTS...: runs the program; its exit code is in $code, its output in .stdout and .stderr.
run() {
  "$pagewalk" "$@" >"$work/.stdout" 2>"$work/.stderr"
  code=$?
}

# The last run exited with CODE, printed nothing on standard output and one line on standard error that begins with
# "pagewalk: " and matches REGEX.
is_error() {
  local expected=$1 regex=$2
  [ "$code" = "$expected" ] || { echo "exit code $code, expected $expected"; return 1; }
  [ ! -s "$work/.stdout" ] || { echo "something on standard output:"; head -n 3 "$work/.stdout"; return 1; }
  [ "$(wc -l <"$work/.stderr")" = 1 ] || { echo "not one line on standard error"; return 1; }
  grep -q '^pagewalk: ' "$work/.stderr" || { echo "the prefix is missing"; return 1; }
  grep -qE -- "$regex" "$work/.stderr" || { echo "does not match: $regex"; return 1; }
}

# fails NAME CODE REGEX ARGUMENTS...
fails() {
  local name=$1 expected=$2 regex=$3
  shift 3
  run "$@"
  check "$name" is_error "$expected" "$regex"
}

succeeds() {
  [ "$code" = 0 ] || { echo "exit code $code"; return 1; }
  [ ! -s "$work/.stderr" ] || { echo "something on standard error"; return 1; }
}

is_json() {
  python3 -m json.tool "$1" >"$work/.json"
}

# Everything but what depends on the host.
without_host() {
  sed '/^  "host": {/,$d' "$1"
}

# No file but those named (and the tests' own hidden ones) is in the folder.
only_files() {
  local folder=$1
  shift
  [ "$(ls "$folder")" = "$(printf '%s\n' "$@" | sed '/^$/d' | sort)" ] || { ls "$folder"; return 1; }
}

finish() {
  echo "1..$tests"
  [ "$failures" = 0 ]
  exit
}
