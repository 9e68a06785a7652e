#!/usr/bin/env bash
# A new policy is one file and one line, in every family.
#   new_policy.sh FOLDER    builds into FOLDER, which is kept for the next time
#
# The tree is copied, and each family gets one more policy, "extra": a copy of another one that has, besides, an option, a
# metric, a ratio, a cost and epochs. The program is built, lists all of them, and runs with each.
set -u
export LC_ALL=C CCACHE_NOHASHDIR=1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
mkdir -p "$1" || exit 1
folder=$(cd "$1" && pwd) || exit 1
pagewalk=$folder/tree/build/pagewalk

# family | policy to copy | options that choose among them | the rest of a run that asks the policy something
families='
coalesce|in_place|coalesce.policy|-d mosaic -w vecadd:ctas=4:iterations=1
compact|contiguity_aware|compact.policy|-d mosaic -w vecadd:ctas=4:iterations=1
dram|fcfs|dram.schedule|-w vecadd:ctas=4:iterations=1
evict|lru4k|uvm.evict|-d uvm-tbn-tbn -w gather:ctas=2:iterations=2:table=2MB --set uvm.oversubscription=110
fill|always|fill.policy|-w vecadd:ctas=4:iterations=1
frame|first_free|page.frames|-w vecadd:ctas=4:iterations=1
l2_walks|always|l2.walks|-w vecadd:ctas=4:iterations=1
place|by_array|place.policy|-w vecadd:ctas=4:iterations=1
prefetch|sl|uvm.prefetch uvm.prefetch_full|-d uvm-tbn-tbn -w gather:ctas=2:iterations=2:table=2MB --set uvm.oversubscription=110
route|centralized|route.policy|-w vecadd:ctas=4:iterations=1 --set gpu.count=2
tlb|ideal|l1_tlb.organisation l1_tlb.large_organisation l2_tlb.organisation l2_tlb.large_organisation|-d mosaic -w vecadd:ctas=4:iterations=1
warp|gto|sm.schedule|-w vecadd:ctas=4:iterations=1
'

tests=0
failures=0
check() { # NAME COMMAND...
  local name=$1
  shift
  tests=$((tests + 1))
  if "$@" >"$folder/check.log" 2>&1; then
    echo "ok $tests - $name"
  else
    failures=$((failures + 1))
    echo "not ok $tests - $name"
    tail -n 20 "$folder/check.log" | sed 's/^/# /'
    return 1
  fi
}
finish() {
  echo "1..$tests"
  [ "$failures" = 0 ]
  exit
}

every_family_has_a_row() {
  local family
  for family in "$root"/src/policy/*/; do
    family=$(basename "$family")
    [[ $families == *$'\n'"$family|"* ]] ||
      { echo "src/policy/$family has no row in $0"; return 1; }
  done
}

# Only what has changed is written, so that the next build is short.
generate() {
  python3 - "$root" "$folder/tree" "$families" <<'PYTHON'
import pathlib, re, subprocess, sys
root, tree = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
names = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True).stdout
kept = {"src", "include", "cli", "configs", "data", "scripts", "experiments", "bench", "tests", "docs"}
files = {n: (root / n).read_bytes() for n in names.splitlines()
         if (root / n).is_file() and ("/" not in n or n.split("/")[0] in kept)}
extra = '''
struct extra_options {
    uint32_t period;
};
static const struct pw_option extra_options[] = {{.name = "period",
                                                  .type = PW_OPTION_CYCLES,
                                                  .offset = offsetof(struct extra_options, period),
                                                  .min = 1,
                                                  .max = 1e6,
                                                  .fallback = "1000",
                                                  .unit = "cycles",
                                                  .help = "Cycles between two epochs."},
                                                 {0}};
#include "sim/cost.h"
static const struct pw_policy_cost extra_cost[] = {{"register", "A register.", PW_COST_L2_TLB, 8, NULL}, {0}};
struct extra_counters {
    uint64_t epochs, length;
};
static const struct pw_policy_metric extra_metrics[] = {
    {"epochs", "epochs", "Epochs so far.", offsetof(struct extra_counters, epochs), false},
    {"epoch_sum", "cycles", NULL, offsetof(struct extra_counters, length), false},
    {0}};
static const struct pw_policy_ratio extra_ratios[] = {
    {"epoch_mean", "cycles", "Mean length of an epoch.", "epoch_sum", "epochs", 1}, {0}};
struct extra_state {
    const struct extra_options *options;
    struct extra_counters *counters;
};
static struct extra_state *extra_of(void *state)
{
    return (struct extra_state *)((char *)state + (MODEL_BYTES + 15) / 16 * 16);
}
static enum pw_status extra_init(void *state, const struct pw_policy_setup *setup, struct pw_error *err)
{
    (void)err;
    *extra_of(state) = (struct extra_state){setup->options, setup->counters};
    return MODEL_INIT(state, setup, err);
}
static pw_cycle extra_epoch(void *state, pw_cycle now)
{
    struct extra_state *s = extra_of(state);
    s->counters[0].epochs++;
    s->counters[0].length += s->options->period;
    return pw_epoch_end(now, s->options->period);
}
'''
head = ('.head = {.options = extra_options, .options_bytes = sizeof(struct extra_options), .metrics = extra_metrics, .ratios = extra_ratios, '
        '.counters_bytes = sizeof(struct extra_counters), .state_bytes = (MODEL_BYTES + 15) / 16 * 16 + sizeof(struct extra_state), .init = extra_init, '
        '.epoch = extra_epoch, .cost = extra_cost, .name = "extra",')
for row in sys.argv[3].split("\n"):
    if not row:
        continue
    family, model = row.split("|")[:2]
    text = files[f"src/policy/{family}/{model}.c"].decode()
    symbol = f"pw_{family}_policy_"
    assert ".more_bytes" not in text and ".options" not in text, f"{family}: {model} has too much of its own; copy another"
    state = re.search(r",\s*\.state_bytes = ([^,}]*)", text)
    init = re.search(r",\s*\.init = (\w+)", text)
    for match in (state, init):
        text = text.replace(match[0], "") if match else text
    names = (f"#define MODEL_BYTES {state[1] if state else '0'}\n"
             f"#define MODEL_INIT(state, setup, err) {init[1] + '(state, setup, err)' if init else 'PW_OK'}\n")
    text = text.replace(symbol + model, symbol + "extra")
    text, heads = re.subn(r'\.head = \{\.name = "[^"]*",', lambda m: head, text)
    text, places = re.subn(rf"(?m)^extern const struct {symbol[:-1]} ", lambda m: names + extra + m[0], text, count=1)
    assert heads == places == 1, f"{family}: {model} does not look like a policy"
    files[f"src/policy/{family}/extra.c"] = text.encode()
    files[f"src/policy/{family}/{family}.def"] += b"PW_POLICY(extra)\n"
for name, text in files.items():
    path = tree / name
    if not path.exists() or path.read_bytes() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    path.chmod((root / name).stat().st_mode if (root / name).exists() else 0o644)
for path in (tree / "src").rglob("*"):
    if path.is_file() and str(path.relative_to(tree)) not in files:
        path.unlink()
PYTHON
}

build() {
  [ -e "$folder/tree/build/build.ninja" ] ||
    meson setup "$folder/tree/build" "$folder/tree" -Dtests=false -Dbuildtype=plain -Doptimization=1 || return 1
  ninja -C "$folder/tree/build" pagewalk
}

own_prefix() { # OPTION: what the names of its policies' options and metrics begin with
  local own=${1%.policy}
  echo "${own%.schedule}"
}

is_listed() { # OPTION...: the policy, and its option, metric and cost under the name of each
  local option own
  for option; do
    own=$(own_prefix "$option")
    "$pagewalk" list policies --json - | grep -E '"name": "extra".*[" ]'"$option"'[",]' || return 1
    "$pagewalk" list options | grep -E "^$own\.period " || return 1
    "$pagewalk" list metrics | grep -E "^$own\.epochs .*Only with $option=extra" || return 1
    "$pagewalk" list metrics | grep -E "^$own\.epoch_mean .*Only with $option=extra" || return 1
    if "$pagewalk" list metrics | grep -E "^$own\.epoch_sum .*$option=extra"; then return 1; fi
    "$pagewalk" list metrics | grep -E "^cost\.$own\.register .*Only with $option=extra" || return 1
  done
}

counts_epochs() { # OPTION RUN...: about twice as many with half the period, whichever is set first
  local option=$1 own
  own=$(own_prefix "$1")
  shift
  "$pagewalk" run -q "$@" --set "$own.period=500" --set "$option=extra" --json "$folder/a.json" || return 1
  "$pagewalk" run -q "$@" --set "$option=extra" --set "$own.period=250" --json "$folder/b.json" || return 1
  python3 - "$folder/a.json" "$folder/b.json" "$own" <<'PYTHON'
import json, sys
def walk(node):
    if isinstance(node, dict):
        for key, value in node.items():
            yield key, value
            yield from walk(value)
    elif isinstance(node, list):
        for value in node:
            yield from walk(value)
results = [dict(walk(json.load(open(path)))) for path in sys.argv[1:3]]
some, more = (result[f"gpu0.{sys.argv[3]}.epochs"] for result in results)
assert 0 < some < more <= 2 * some, (some, more)
assert [result[f"gpu0.{sys.argv[3]}.epoch_mean"] for result in results] == [500, 250]
assert results[0][f"gpu0.cost.{sys.argv[3]}.register"] == 8
PYTHON
}

refuses() { # OPTION: without its policy there is no such option
  local option=$1 own
  own=$(own_prefix "$1")
  "$pagewalk" run -q -w vecadd:ctas=4:iterations=1 --set "$own.period=500" 2>"$folder/refused" >/dev/null
  [ $? = 2 ] && grep -F "$own.period is an option of $option=extra" "$folder/refused"
}

check 'every family of policies has a row here' every_family_has_a_row || finish
check 'a copy of the tree gets one more policy in each family' generate || finish
check 'it builds' build || finish
while IFS='|' read -r family _ options run; do
  [ -n "$family" ] || continue
  read -ra choosers <<<"$options"
  read -ra arguments <<<"$run"
  check "$family: the policy, its option, its metric and its cost are listed" is_listed "${choosers[@]}"
  for option in "${choosers[@]}"; do
    check "$option=extra is called at its epochs, by its option, and counts them" counts_epochs "$option" "${arguments[@]}"
    check "$option: its option needs the policy" refuses "$option"
  done
done <<<"$families"
finish
