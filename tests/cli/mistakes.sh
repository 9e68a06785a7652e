#!/usr/bin/env bash
# Mistakes of the user's: exit code 2, one line that says what to do, nothing written.
source "$(dirname "$0")/tap.sh"

fails 'no command' 2 'pagewalk help'
fails 'unknown command' 2 'unknown command "rnu"; did you mean "run"' rnu
fails 'unknown command that resembles none' 2 'unknown command "xyzzy"; see `pagewalk help`' xyzzy
fails 'unknown flag before the command' 2 'unknown flag "--versoin"; did you mean "--version"' --versoin
fails 'unknown flag of run' 2 'unknown flag "--jsno"; did you mean "--json"' run -w $small --jsno -
fails 'unknown flag with a value' 2 'unknown flag "--sed"; did you mean "--se[et]d?"' run -w $small --sed=1
fails 'unknown short flag' 2 'unknown flag "-z"' run -z
fails 'flag without its value' 2 '--seed needs a value' run -w $small --seed
fails 'value for a switch' 2 '--quiet takes no value' run -w $small --quiet=yes
fails 'workload twice' 2 '-w is given twice; for several write -w A,B' run -w $small -w $small
fails 'workload twice, the long way' 2 '-w is given twice' run --workload $small --workload=$small
fails 'machine twice' 2 '-m is given twice; for several write -m A[+]B' run -m volta -m mosaic -w $small
fails 'design twice' 2 '-d is given twice; for several write -d A[+]B' run -d gpu-mmu -d mosaic -w $small
fails 'file twice' 2 '--json is given twice; give it once' run -w $small --json a --json b
fails 'seed twice' 2 '--seed is given twice' run -w $small --seed 1 --seed 1
fails 'a flag of another command twice' 2 '--db is given twice' export --db a --db b
run run -q -q -w $small --verify --verify --set sm.count=2 --set sm.count=3
check 'a switch twice is harmless, and --set may be repeated' succeeds
fails 'argument that is no flag' 2 'run takes no "HS"' run HS
fails 'no workload' 2 'no workload.*-w' run -m mosaic
fails 'help on an unknown command' 2 'unknown command "lsit"; did you mean "list"' help lsit
fails 'help on two commands' 2 'help takes one command' help run list

for seed in 0 -1 1.5 x '' 9223372036854775808 99999999999999999999999 '1 ' 0x10; do
  fails "seed \"$seed\"" 2 '--seed: .* is no whole number' run -w $small --seed "$seed"
done
fails 'interval that is no number' 2 '--interval: .* is no whole number' run -w $small --interval often

fails 'unknown machine' 2 'mosaci.*did you mean .?mosaic' run -m mosaci -d gpu-mmu -w HS
fails 'unknown machine that resembles none' 2 'xyzzy' run -m xyzzy -w HS
fails 'unknown design' 2 'gpu-mmmu.*did you mean .?gpu-mmu' run -d gpu-mmmu -w HS
fails 'unknown design of two' 2 'ideal-tbl.*did you mean .?ideal-tlb' run -d gpu-mmu+ideal-tbl -w HS
fails 'empty design' 2 '.' run -d '' -w HS
fails 'unknown workload' 2 'vecad.*did you mean .?vecadd' run -w vecad
fails 'empty workload' 2 '.' run -w ''
fails 'store to what may only be read' 2 \
  "app0 \(vecadd:ctas=1:protect=all\): kernel vecadd writes address 0x7f[0-9a-f]* of allocation 'c', which it may only read" \
  run -w vecadd:ctas=1:protect=all
fails 'unknown parameter of a workload' 2 'iteration.*did you mean .?iterations' run -w vecadd:iteration=3
fails 'parameter without a value' 2 'iterations' run -w vecadd:iterations
fails 'parameter with a bad value' 2 'iterations.*many' run -w vecadd:iterations=many
fails 'parameter out of range' 2 'warps.*33' run -w vecadd:warps=33
fails 'parameter without text' 2 'bfs: graph has no value; give one, or leave graph= out' run -w bfs:graph=
for gap in gather: gather:: gather:::ctas=4 gather:ctas=4: gather:ctas=4::lanes=1 :; do
  fails "missing parameter in $gap" 2 "a parameter is missing beside a ':'|unknown workload ''" run -w "$gap"
done
fails 'count with an exponent' 2 'ctas = 1e3 is not a whole number .for example 1000 or 1k' run -w vecadd:ctas=1e3
fails 'size without a limit, too small' 2 'table = 2 is out of range .4B to 16777215TB' run -w gather:table=2
fails 'size that 64 bits do not hold' 2 'table = 16777216TB is out of range .4B to 16777215TB' run -w gather:table=16777216TB
fails 'more elements than 32-bit indices reach' 2 'table has 4294967297 elements, but its indices have 32 bits; at most 16GB' \
  run -m volta -w gather:n=64:ctas=1:warps=1:table=17179869188
run run -m volta -d ideal-tlb -w gather:n=64:ctas=1:warps=1:table=16GB -q
check 'as many elements as 32-bit indices reach' succeeds
fails 'allocation that does not fit' 2 "of 4GB does not fit: 30..MB of the 3GB" run -w gather:table=4GB
fails 'option that is but a word of another' 2 "l2_tlb.entries'; did you mean 'l2_tlb.base_entries'" run -w $small --set l2_tlb.entries=5
fails 'TLB entries that do not make sets' 2 'l2_tlb.base_entries = 1 .* l2_tlb.base_ways = 16' run -w $small --set l2_tlb.base_entries=1
fails 'large TLB entries that do not make sets' 2 'l1_tlb.large_entries = 6 .* l1_tlb.large_ways = 4' \
  run -w $small --set page.size=2MB --set l1_tlb.large_entries=6 --set l1_tlb.large_ways=4
fails 'channels that leave the L2 slices no set' 2 'dram.channels = 1024 .*l2.bytes.*4MB would do' run -w $small --set dram.channels=1024
run run -q -w $small --set dram.channels=1024 --set l2.bytes=4MB
check 'and what the message says would do, does' succeeds
"$pagewalk" list options >.options
most=$(sed -nE 's/^dram.bytes .* to ([0-9]+)GB .*/\1/p' .options)
run run -q -w $small --set dram.bytes="$most"GB
check 'the most memory that list options allows is accepted' succeeds
fails 'a gigabyte more is not' 2 "dram.bytes = $((most + 1))GB is out of range .1MB to ${most}GB" run -w $small --set dram.bytes=$((most + 1))GB
fails 'unknown option' 2 'l1_tlb.base_entires.*did you mean .?l1_tlb.base_entries' run -w $small --set l1_tlb.base_entires=4
fails 'option without a value' 2 'l1_tlb' run -w $small --set l1_tlb
fails 'option with a bad value' 2 'banana' run -w $small --set l1_tlb.base_entries=banana
fails 'option out of range' 2 'l1_tlb.base_entries' run -w $small --set l1_tlb.base_entries=-1
fails 'option with a number too large' 2 'l1_tlb.base_entries' run -w $small --set l1_tlb.base_entries=99999999999999999999
fails 'launches in no order' 2 '5-2' run -w $small --kernels 5-2
for launches in a-b -1 0 1- -- 1-2-3 '1 ' '' +1 1-18446744073709551616 4294967296; do
  fails "launches \"$launches\"" 2 "--kernels: '.*' is not a launch number or a range" run -w $small --kernels "$launches"
done

fails 'application without a name' 2 'a name is missing beside a comma' run -w $small,,$small
fails 'application without a name at the end' 2 'a name is missing beside a comma' run -w $small,
fails 'unknown application of two' 2 'vecad.*did you mean .?vecadd' run -w $small,vecad
fails 'SMs for too few applications' 2 'apps.sms = 20: .*one number of SMs for each of 2' run -w $small,$small --set apps.sms=20
fails 'more SMs than there are for one' 2 'apps.sms = 31: more than the 30 SMs' run -w $small --set apps.sms=31
fails 'more SMs than there are' 2 'apps.sms = 20[+]11: .*more than the 30' run -w $small,$small --set apps.sms=20+11
fails 'a workload with SMs for too few' 2 "workload '$small,$small@20': .*one number of SMs for each of 2" run -w $small,$small@20
fails 'a workload with SMs for too many' 2 'one number of SMs for each of 2' run -w $small,$small@10+10+10
fails 'a workload whose SMs are missing' 2 'one number of SMs for each of 2' run -w $small,$small@
fails 'a workload with no SM for one' 2 'every application needs at least one SM' run -w $small,$small@30+0
fails 'a workload with more SMs than there are' 2 "@20[+]11': more than the 30 SMs of this machine" run -w $small,$small@20+11
fails 'a workload with SMs that are no numbers' 2 'are given once, at the end of a run.s workload' run -w $small,vecadd@20+ten
fails 'a workload with SMs for each program' 2 'are given once, at the end of the workload' run -w $small@20,$small
fails 'SMs without a workload' 2 "a name is missing before the '@'" run -w @20+10
fails 'SMs by the workload and by the option' 2 '@20[+]10., and so does --set apps.sms=10[+]20; leave one' run -w $small,$small@20+10 --set apps.sms=10+20
fails 'SMs of a profile' 2 'at the end of a run.s workload' workload vecadd@20
fails 'several GPUs without an IOMMU' 2 'gpu.count above 1 needs the host.s IOMMU; give it walkers .iommu.walkers=8., or take machine mgpu4' run -w $small --set gpu.count=2
fails 'a route without an IOMMU' 2 'this route.policy needs the host.s IOMMU' run -w $small -d bypass
fails 'demand paging on several GPUs' 2 'demand paging and preloading .paging.mode. are for one GPU without an IOMMU' run -m mgpu4 -d uvm-nvidia -w $small
fails 'more GPUs than there can be' 2 'gpu.count' run -m mgpu4 -w $small --set gpu.count=65
fails 'thresholds of bypassing the wrong way round' 2 'route.t2 = 0.9 is above route.t1 = 0.85' run -m mgpu4 -d bypass -w $small --set route.t2=0.9
fails 'more applications than SMs' 2 '2 applications need at least as many SMs' run -w $small,$small --set sm.count=1
fails 'more applications than channels' 2 '1 channels cannot be divided' run -w $small,$small -d static --set dram.channels=1
fails 'launches of several applications' 2 '--kernels needs a run of one application' run -w $small,$small --kernels 1
fails 'runs alone of a part' 2 '--alone compares whole runs' run -w $small --alone --warmup 10
for size in 64KB 2MB; do
  fails "coalescing of $size pages" 2 'coalesce.policy .* of 4KB pages; set page.size=4KB' run -w $small -d mosaic --set page.size=$size
done
fails 'memory for one application only' 2 'app1 .*: allocation .* does not fit' run -w $small,gather:table=64MB --set dram.bytes=32MB

fails 'missing machine file' 2 'missing.yaml' run -m ./missing.yaml -w $small
mkdir folder
fails 'folder as machine file' 2 'folder' run -m ./folder -w $small
printf 'summary: mine\nl1_tlb:\n  base_entires: 4\n' >typo.yaml
fails 'machine file with an unknown option' 2 'typo.yaml:3: .*did you mean' run -m ./typo.yaml -w $small
printf 'summary: mine\nl1_tlb: [1, 2\n' >broken.yaml
fails 'machine file that is no YAML' 2 'broken.yaml:[23]: ' run -m ./broken.yaml -w $small
printf '\377\376\000\001' >binary.yaml
fails 'machine file of binary data' 2 'binary.yaml' run -m ./binary.yaml -w $small
printf 'l1_tlb:\n  base_entries: many\n' >value.yaml
fails 'design file with a bad value' 2 'value.yaml:2: .*many' run -d ./value.yaml -w $small

# Whatever bytes a file has, a message is plain text.
plain() {
  is_error 2 "$1" && ! LC_ALL=C grep -q "$(printf '[\001-\011\013-\037\177]')" .stderr && python3 -c 'open(".stderr", encoding="utf-8").read()'
}
printf 'p \377\033[31m\302\233 2 1\n' >junk.gr
printf '%%%%MatrixMarket matrix \377\033\200 real general\n' >junk.mtx
printf '\377\033[31m\200\n' >junk.touch
run run -w bfs:graph=junk.gr
check 'bytes of a DIMACS file do not reach the terminal' plain 'junk.gr:1: '
run run -w bfs:graph=junk.mtx
check 'bytes of a Matrix Market file do not reach the terminal' plain 'junk.mtx:1: '
run touch junk.touch
check 'bytes of a touch file do not reach the terminal' plain 'junk.touch:1: '
run run -w "$(printf 'HS\033\377')"
check 'bytes of an argument do not reach the terminal' plain 'unknown workload'
run run "$(printf -- '--js\033\377')"
check 'bytes of a flag do not reach the terminal' plain 'unknown flag'
rm junk.*

fails 'list of nothing' 2 'list takes one of machines' list
fails 'unknown list' 2 'unknown list "machine"; did you mean "machines"' list machine
fails 'two lists' 2 'list takes one of' list machines designs
fails 'the cost of machines' 2 '--cost goes with designs, not with machines' list machines --cost
fails 'designs of a machine' 2 '--machine goes with --cost' list designs -m mask
fails 'the cost on an unknown machine' 2 "unknown machine 'msk'" list designs --cost -m msk

fails 'output file in a missing folder' 2 'none/a.json' run -w $small --json none/a.json
fails 'output file that is a folder' 2 'folder: is a folder' run -w $small --csv folder
fails 'output file without a name' 2 'name of an output file is empty' run -w $small --json ''
fails 'two formats on standard output' 2 'standard output' run -w $small --json - --csv -
fails 'two formats in one file' 2 'same file' run -w $small --json a --csv a
fails 'timeline on standard output' 2 '--timeline cannot go to standard output' run -w $small --timeline -
fails 'timeline in a missing folder' 2 'none/a.trace' run -w $small --timeline none/a.trace
fails 'timeline in a folder' 2 'folder: is a folder' run -w $small --timeline folder
fails 'timeline in a device' 2 '/dev/null: is no regular file' run -w $small --timeline /dev/null
fails 'timeline and result in one file' 2 'same file' run -w $small --timeline a --json a
fails 'no events in a timeline' 2 '--timeline-limit: .* is no whole number' run -w $small --timeline a --timeline-limit 0
fails 'mistake found after the timeline was begun' 2 'does not fit' run -w gather:table=64MB --set dram.bytes=32MB --timeline a
run -m mosaci -w $small --json a.json --csv a.csv --timeline a.trace
check 'a mistake leaves no output file' only_files . binary.yaml broken.yaml folder typo.yaml value.yaml
if [ "$(id -u)" != 0 ]; then
  mkdir -m 500 sealed
  fails 'output file in a sealed folder' 2 'sealed' run -w $small --json sealed/a.json
fi
finish
