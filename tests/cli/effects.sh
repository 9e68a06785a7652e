#!/usr/bin/env bash
# Options and flags without effect: one line each on standard error that says why, a mistake with --strict.
source "$(dirname "$0")/tap.sh"
tree=$source_root/examples/touches/tree.touch

# The last run succeeded and said exactly these lines.
said() {
  [ "$code" = 0 ] || { echo "exit code $code"; return 1; }
  [ -s "$work/.stdout" ] || { echo "no result"; return 1; }
  diff <(printf 'pagewalk: %s\n' "$@") "$work/.stderr"
}

# says NAME LINE ARGUMENTS...: run works and says one line.
says() {
  local name=$1 line=$2
  shift 2
  run run -w $small "$@"
  check "$name" said "$line"
}

silent() {
  run "$@"
  check "nothing to say: $*" succeeds
}

paging='paging.mode is free (designs uvm-* page on demand)'
says 'oversubscription without paging' "--set uvm.oversubscription=110 has no effect because $paging" \
  --set uvm.oversubscription=110
says 'advice without paging' "--set uvm.advice=a:host has no effect because $paging" --set uvm.advice=a:host
says 'a link that carries nothing' "--set link.model=table has no effect because $paging" --set link.model=table
says 'the latency of walks that read memory' '--set walk.latency=300 has no effect because walk.model is memory' \
  --set walk.latency=300
says 'a walk cache that is off' '--set pwc.bytes=4KB has no effect because pwc.enabled is off' --set pwc.bytes=4KB
says 'an L2 TLB that is not there' '--set l2_tlb.ports=1 has no effect because l2_tlb.enabled is off' \
  --set l2_tlb.ports=1 --set l2_tlb.enabled=off
says 'compaction without large frames' '--set compact.copy=bulk has no effect because page.frames is first-free' \
  --set compact.copy=bulk
says 'the interval of a policy that is off' '--set coalesce.interval=2000 has no effect because coalesce.policy is none' \
  --set coalesce.interval=2000
says 'backing of one program' '--set apps.backing=one-by-one has no effect because there is one application' \
  --set apps.backing=one-by-one
says 'starting over of one program' '--set apps.restart=fresh has no effect because there is one application' \
  --set apps.restart=fresh
says 'a value that the option has anyway' '--set walk.latency=500 has no effect because walk.model is memory' \
  --set walk.latency=500
says 'only the last of two values' '--set walk.latency=400 has no effect because walk.model is memory' \
  --set walk.latency=300 --set walk.latency=400
for flag in timeline-limit:timeline pages-limit:pages pages-interval:pages; do
  says "--${flag%:*} without its file" "--${flag%:*} 5 has no effect without --${flag#*:} FILE" "--${flag%:*}" 5
done
run run -w $small --quiet --json - --set walk.latency=300
check 'quiet runs say it too, beside their result' said '--set walk.latency=300 has no effect because walk.model is memory'

silent run -w $small --set uvm.memory=4MB -d uvm-tbn-tbn -m pascal --strict
silent run -w $small --set walk.latency=300 --set walk.model=fixed --strict
silent run -w $small,$small --set apps.backing=one-by-one --strict
silent run -w $small --timeline trace.json --timeline-limit 5 --strict
for machine in "$source_root"/configs/machines/*.yaml; do
  run run -m "$machine" -w $small --strict
  check "a machine file given by path: $(basename "$machine")" succeeds
done

printf 'walk:\n  latency: 300\npage:\n  size: 4KB\n' >own.yaml
run run -w $small -d ./own.yaml
check "a design file of one's own" said './own.yaml:2: walk.latency=300 has no effect because walk.model is memory'
run run -w $small -m ./own.yaml
check "a machine file that contradicts itself" said \
  './own.yaml:2: walk.latency=300 has no effect because walk.model is memory'

refused() {
  [ "$code" = 2 ] || { echo "exit code $code"; return 1; }
  [ ! -s "$work/.stdout" ] || { echo 'a result'; return 1; }
  diff <(printf 'pagewalk: %s\n' "$@" 'nothing was run because of --strict; leave out what has no effect') "$work/.stderr"
}
run run -w $small --strict --json strict.json --pages-limit 5 --set walk.latency=300
check '--strict runs nothing and says all' refused '--pages-limit 5 has no effect without --pages FILE' \
  '--set walk.latency=300 has no effect because walk.model is memory'
check '--strict writes nothing' [ ! -e strict.json ]
run advise -w $small --strict --db strict.db --set walk.distance=3
check 'advise --strict' refused '--set walk.distance=3 has no effect because walk.model is fixed'
run touch "$tree" --strict --set uvm.fault_latency=1us
check 'touch --strict' refused '--set uvm.fault_latency=1us has no effect because touch moves pages without taking time'

run touch "$tree" --memory 4MB --set uvm.memory=2MB
check 'touch has one size of memory' said '--set uvm.memory=2MB has no effect because --memory is given'
silent touch "$tree" --set uvm.memory=2MB --set uvm.evict=lru4k --strict
for option in uvm.memory=4MB uvm.oversubscription=110; do
  fails "advise with $option" 2 "--set $option is not for it; use --memory" advise -w $small --set $option
done
fails 'a mistake is said alone' 2 'unknown option .l1_tlb.ports.; did you mean .l2_tlb.ports' run -w $small \
  --set walk.latency=300 --set l1_tlb.ports=4
finish
