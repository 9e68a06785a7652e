#!/usr/bin/env bash
# What people read fits in the columns there are: nothing but single words sticks out. Pipes get a line per entry; terminals
# get their own width, and colours unless NO_COLOR says otherwise.
source "$(dirname "$0")/tap.sh"
unset COLUMNS NO_COLOR

# fits WIDTH: no line of .stdout is wider, but for one word on it that is too wide for any place.
fits() {
  python3 - "$1" <<'PYTHON'
import re, sys
width, wide = int(sys.argv[1]), []
for line in open(".stdout", encoding="utf-8"):
    line = re.sub(r"\033\[[0-9;]*m", "", line.rstrip("\n"))
    assert not line.endswith(" "), repr(line)
    if len(line) > width and max(map(len, line.split())) < width // 2:
        wide.append(line)
assert not wide, "\n".join(wide)
PYTHON
}

# wrapped ARGUMENTS...: the command's output fits at $width columns.
wrapped() {
  COLUMNS=$width run "$@"
  check "$width columns: $(echo "$*" | cut -c 1-60)" eval "[ \$code = 0 ] && [ -s .stdout ] && fits $width"
}

width=80
for kind in machines designs workloads policies options metrics figures; do
  wrapped list $kind
done
wrapped help
for command in run advise reproduce claims workload touch list diff export help; do
  wrapped help $command
done
wrapped claims
wrapped claims --list
wrapped claims --tests
wrapped workload HS:side=64
"$pagewalk" run -w $small --json small.json -q
"$pagewalk" run -w $small -m mask --json mask.json -q
for width in 80 100; do
  COLUMNS=$width run diff small.json mask.json
  check "$width columns: diff" eval "[ \$code = 1 ] && fits $width"
done
width=80
wrapped run -w $small --breakdown --verify
wrapped run -w $small --all --verify
three=$small,pointer_chase:hops=50:bytes=1MB,gather:ctas=4:iterations=1:table=1MB
wrapped run -w $three --breakdown --alone
wrapped run -w $three --all --alone --by-kernel
wrapped run -m pascal -d uvm-tbn-tbn -w vecadd:n=100k
wrapped advise -w vecadd:n=100k --memory 50% --db advise.db
wrapped advise -w vecadd:n=100k --memory 50% --db advise.db -q
wrapped reproduce uvm/fig04 --db figures.db --each
width=100
wrapped claims --tests
wrapped list options
wrapped run -w $three --breakdown
wrapped reproduce uvm/fig04 --db figures.db --each

run list options
check 'a pipe gets a line per entry' eval \
  '[ "$(wc -l <.stdout)" = "$(($("$pagewalk" list options --json - | python3 -c "import json, sys; print(len(json.load(sys.stdin)))") + 1))" ]'
run run -w $three --all
check 'and all columns of a table beside one another' grep -qE 'gpu0 +app0 +app1 +app2' .stdout
# Mangled names of kernels, and texts in columns.
recorded=$source_root/examples/traces/transformer.pwt
for command in "trace info $recorded" "workload -q trace:$recorded" 'list machines'; do
  name=${command/$source_root\//}
  # The words are arguments.
  # shellcheck disable=SC2086
  run $command
  check "$name: 80 columns in a pipe" eval 'succeeds && fits 80 && ! grep -q "^ *_Z" .stdout'
  # shellcheck disable=SC2086
  run $command --long
  check "$name: as many as it takes with --long" eval 'succeeds && grep -qE ".{90}" .stdout && ! grep -q "^ *_Z" .stdout'
done
for file in "$source_root"/examples/traces/h200/*.pwt; do
  run trace info "$file"
  check "trace info of a real GPU's $(basename "$file"): 80 columns in a pipe" eval 'succeeds && fits 80'
done
run trace info "$recorded"
check 'kernels have short names' grep -qE '^ +linear<…> ' .stdout
run trace info "$recorded" --long
check 'and with --long all of it' grep -qE '^ +void linear<0>\(' .stdout
run workload -q "trace:$recorded" --long
check 'in a profile too' grep -qE '^ +void linear<0>\(' .stdout
for columns in 39 0 -80 many 80x ''; do
  COLUMNS=$columns run list options
  check "COLUMNS=$columns is not a width" eval 'succeeds && grep -qE ".{100}" .stdout'
done
COLUMNS=60 run list policies
check 'policies of all families are listed' eval \
  '(for family in schedule TLB frame size compaction prefetch eviction DRAM; do grep -q "$family" .stdout || exit 1; done)'
check 'every policy file is listed' python3 - "$pagewalk" "$source_root" <<'PYTHON'
import json, pathlib, re, subprocess, sys
listed = [e["name"] for e in json.loads(subprocess.check_output([sys.argv[1], "list", "policies", "--json", "-"]))]
defined = [name.replace("_", "-") for file in pathlib.Path(sys.argv[2], "src/policy").glob("*/*.def")
           for name in re.findall(r'^\w+\((?:\w+, ")?([^")]+)"?\)', file.read_text(), re.M)]
assert defined and sorted(listed) == sorted(defined), set(listed) ^ set(defined)
PYTHON

run run -w $small --breakdown
check '--breakdown comes before the counters' eval \
  '[ "$(grep -nE "^(Where the time|Cost of)" .stdout | cut -d: -f2 | cut -c1-5 | tr "\n" " ")" = "Where Cost  " ]'
run run -w gather:table=1MB:ctas=4:iterations=1 --set l2_tlb.enabled=off --breakdown --all
check 'a machine without an L2 TLB shows none' eval \
  'succeeds && ! grep -q "L2 TLB" .stdout && grep -q "l2_tlb.mshr_merges" .stdout && grep -q "to and from the walkers" .stdout'
run run -w $small --verify --all
check 'one check holds' grep -qE ', 1 check of the workload.s result holds$|, [0-9]{2,} checks of the workload.s result hold$' .stdout
fails 'one launch' 2 'has only 1 launch$' run -w $small --kernels 2

# A terminal of 60 columns: a pseudo-terminal whose far end stays open here too, as what a program has written may be lost
# when the last one closes it. An end mark, written once the program is over, says that all has been read.
terminal() {
  python3 - "$pagewalk" "$@" <<'PYTHON'
import fcntl, os, pty, struct, subprocess, sys, termios, threading
near, far = pty.openpty()
fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
program = subprocess.Popen(sys.argv[1:], stdin=far, stdout=far, stderr=far, env={**os.environ, "TERM": "xterm"})
threading.Thread(target=lambda: (program.wait(), os.write(far, b"\0"))).start()
shown = b""
while not shown.endswith(b"\0"):
    shown += os.read(near, 65536)
open(".stdout", "wb").write(shown[:-1].replace(b"\r\n", b"\n"))
PYTHON
}
terminal list designs
check 'a terminal gets its own width' eval 'fits 60 && grep -qE ".{50}" .stdout'
COLUMNS=100 terminal list designs
check 'unless COLUMNS says otherwise' eval 'fits 100 && grep -qE ".{80}" .stdout'
terminal reproduce uvm/fig04 --db figures.db
check 'verdicts have colours on a terminal' grep -q $'\033\[3[12]m\(holds\|differs\)\033\[0m' .stdout
NO_COLOR=1 terminal reproduce uvm/fig04 --db figures.db
check 'but not with NO_COLOR' eval 'grep -q holds .stdout && ! grep -q $'"'"'\033\[3'"'"' .stdout'
run reproduce uvm/fig04 --db figures.db
check 'nor in a pipe' eval 'grep -q holds .stdout && ! grep -q $'"'"'\033'"'"' .stdout'
terminal list nonsense
check 'a message on a terminal begins in colour' grep -q $'^\033\[1;31mpagewalk:\033\[0m unknown list' .stdout
NO_COLOR=1 terminal list nonsense
check 'but not with NO_COLOR' grep -q '^pagewalk: unknown list' .stdout
finish
