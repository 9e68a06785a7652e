#!/usr/bin/env bash
# What the world does to a command that is under way: signals, a disk that is full, a reader that has gone, a store that may
# not be written, pipes where files are expected.
source "$(dirname "$0")/tap.sh"
long=pointer_chase:bytes=1MB:hops=400000000

# Waits until a command has begun its file.
begun() {
  for _ in $(seq 500); do
    [ -n "$(ls target)" ] && break
    sleep 0.01
  done
}

# interrupted NAME SIGNAL ARGUMENTS...: sends the signal once the command is at work; nothing of it is left in the folder.
interrupted() {
  local name=$1 signal=$2
  shift 2
  mkdir -p target
  "$pagewalk" "$@" >.stdout 2>.stderr &
  job=$!
  begun
  kill -s "$signal" $job
  wait $job
  code=$?
  check "$name (SIG$signal): 130, one line, no file" eval 'is_error 130 "interrupted" && only_files target ""'
}

python3 -c 'print("alloc a 64M\n" + "".join(f"write a {i * 7919 % 16384}\n" for i in range(4000000)), end="")' >long.touch
for signal in INT TERM HUP; do
  interrupted 'touch --csv' $signal touch long.touch --memory 4MB --csv target/t.csv
  interrupted 'run --timeline --pages' $signal run -w $long --timeline target/t.trace --pages target/p.csv
done
(trap '' HUP && exec "$pagewalk" run -w vecadd:n=4000000 -q --json nohup.json --timeline target/nohup.trace) &
job=$!
begun
kill -s HUP $job
wait $job
code=$?
check 'under nohup a hangup changes nothing' eval '[ $code = 0 ] && is_json nohup.json'
mkfifo pipe
"$pagewalk" touch pipe >.stdout 2>.stderr &
job=$!
sleep 0.3
kill -s INT $job
wait $job
code=$?
check 'touch that waits for a pipe can be interrupted' is_error 130 interrupted

rm -r target
"$pagewalk" trace record -w alu:iterations=20000 -o alu.pwt -q
interrupted 'trace export' INT trace export alu.pwt -o target/folder
interrupted 'trace export' TERM trace export alu.pwt -o target/folder --xz

# A file of less than a megabyte that stands for 6 GB of empty lines: whoever reads it stops at once.
python3 - <<'PYTHON'
import lzma
head = b"-kernel name = k\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-accelsim tracer version = 5\n"
stream = lzma.compress(b"\n" * (16 << 20), preset=0)
open("bomb.traceg.xz", "wb").write(lzma.compress(head) + stream * 400)
PYTHON
began=$(date +%s)
interrupted 'trace convert of much text in a small file' INT trace convert bomb.traceg.xz -o target/x.pwt
"$pagewalk" trace info bomb.traceg.xz >.stdout 2>.stderr &
job=$!
sleep 0.5
kill -s INT $job
wait $job
code=$?
check 'so does trace info' is_error 130 interrupted
check 'neither took long' [ $(($(date +%s) - began)) -le 5 ]

# The first result cannot be stored, and every further run would take hours. 8 KB more than an empty store has.
cat >full.yaml <<YAML
title: A full disk
machine: mask
variants:
  4k: {design: gpu-mmu}
workloads:
  one: {list: "vecadd:n=1000 vecadd:n=2000 $long ${long}0 ${long}1"}
measures:
  speed: ipc
table:
  speed: speed@4k
YAML
run reproduce ./full.yaml --plan --db full.db
limit=$(($(stat -c %s full.db) / 1024 + 8))
(ulimit -f $limit && exec timeout -s KILL 60 "$pagewalk" reproduce ./full.yaml --db full.db -j 2 -q >.stdout 2>.stderr)
code=$?
check 'a full disk stops all runs at the first result that cannot be stored' is_error 1 'full.db: .*; stopped, what is finished is kept'
sed 's/"vecadd:n=1000 .*"/"vecadd:n=1000 vecadd:n=2000 vecadd:n=3000 vecadd:n=4000 vecadd:n=5000 vecadd:n=6000"/' full.yaml >small.yaml
run reproduce ./small.yaml --db whole.db --json -
cp .stdout whole.json
limit=$(($(stat -c %s whole.db) / 1024 - 4)) # a page less than all need
(ulimit -f $limit && exec timeout -s KILL 60 "$pagewalk" reproduce ./small.yaml --db half.db -j 1 -q >.stdout 2>.stderr)
code=$?
check 'a disk that fills up in the middle: exit code 1 and one line' is_error 1 'half.db: .*; stopped, what is finished is kept'
run reproduce ./small.yaml --plan --db half.db
check 'what was stored before is kept' eval 'grep -qE "6 runs, [1-5] of them in the store" .stdout'
run reproduce ./small.yaml --db half.db --json -
check 'and with room the rest is done: the same numbers' cmp .stdout whole.json

# Modes bind root only when it has no capabilities.
sealed() {
  if [ "$(id -u)" = 0 ]; then
    setpriv --bounding-set -all "$pagewalk" "$@" >.stdout 2>.stderr
  else
    "$pagewalk" "$@" >.stdout 2>.stderr
  fi
  code=$?
}
mkdir sealed
cp whole.db sealed/whole.db
chmod 444 sealed/whole.db
chmod 555 sealed
sealed run -q -w $small --json sealed/a.json
check 'the folder is sealed' is_error 2 'sealed/a.json: cannot be created'
sealed reproduce ./small.yaml --db sealed/whole.db --json -
check 'a store that may only be read serves when nothing is missing' eval 'succeeds && cmp .stdout whole.json'
sealed reproduce ./small.yaml --db sealed/whole.db --plan
check '--plan reads it too' eval 'succeeds && grep -q "6 runs, 6 of them in the store" .stdout'
sed 's/n=1000 /n=7000 /' small.yaml >more.yaml
sealed reproduce ./more.yaml --db sealed/whole.db --plan
check '--plan also with runs missing' eval 'succeeds && grep -q "6 runs, 5 of them in the store" .stdout'
sealed reproduce ./more.yaml --db sealed/whole.db -q
check 'a missing run is refused before anything is simulated' is_error 2 'sealed/whole.db: cannot be written: Permission denied'
sealed reproduce ./small.yaml --db sealed/new.db
check 'a store that is not there cannot be made' is_error 2 'sealed/new.db: cannot be created'
chmod 755 sealed
check 'nothing has come into the folder' only_files sealed whole.db

# A reader that goes after one line. What is written is more than a pipe holds, so the writer must notice.
without_reader() {
  local name=$1
  shift
  { "$pagewalk" "$@" 2>.stderr; echo $? >.code; } | head -n 1 >.line
  check "$name | head: silent, exit code 141" eval '[ "$(cat .code)" = 141 ] && [ ! -s .stderr ] && [ "$(wc -l <.line)" = 1 ]'
}
without_reader 'touch' touch long.touch --memory 4MB
without_reader 'export' export --db whole.db
exec 4> >(exec true)
sleep 0.2
"$pagewalk" list options >&4 2>.stderr
code=$?
check 'list options | true: silent, exit code 141' eval '[ $code = 141 ] && [ ! -s .stderr ]'
exec 4>&-

for flag in -m -d; do
  fails "a named pipe for $flag" 2 'pipe: is no regular file; name a YAML file' run $flag ./pipe -w $small
done
fails 'a named pipe as a figure' 2 'pipe: is no regular file; name a YAML file' reproduce ./pipe
mkdir links
ln -s links/../links/file.json dangling
ln -s loop loop
run run -q -w $small --json dangling
check 'a link that points to no file yet stays, and the file appears there' eval 'succeeds && [ -L dangling ] && is_json links/file.json'
fails 'a link that goes in circles' 2 'loop: cannot be written: Too many levels' run -q -w $small --json loop
ln -s nowhere/file.json astray
fails 'a link into a folder that is not there' 2 'astray: cannot be created: nowhere' run -q -w $small --json astray
finish
