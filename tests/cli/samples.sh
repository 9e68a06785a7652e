#!/usr/bin/env bash
# The samples of workloads (experiments/sizes.yaml) are what the seed draws, whatever they cost.
source "$(dirname "$0")/tap.sh"

cat >draw.py <<'PYTHON'
"""Draws the samples as the comment in experiments/sizes.yaml says, and prints the lists."""
import json, random, re, subprocess, sys

MASK = (1 << 64) - 1


class Stream:
    """src/sim/random.c: xoshiro256**, seeded through splitmix64 with the name of the stream."""

    def __init__(self, seed, name):
        self.x = seed
        for byte in name.encode():
            self.x = self.split() ^ byte
        self.s = [self.split() for _ in range(4)]

    def split(self):
        self.x = z = (self.x + 0x9E3779B97F4A7C15) & MASK
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
        return z ^ (z >> 31)

    def next(self):
        s, rotate = self.s, lambda x, k: ((x << k) | (x >> (64 - k))) & MASK
        result, t = rotate(s[1] * 5 & MASK, 7) * 9 & MASK, s[1] << 17 & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotate(s[3], 45)
        return result

    def below(self, bound):
        while True:
            product = self.next() * bound
            if product & MASK >= (1 << 64) % bound:
                return product >> 64


def mixes(programs, apps, seed, count=25):
    """The mixes of a figure's {random: 25, apps: N, seed: S}."""
    stream, order, sets, out = Stream(seed, "mixes"), list(programs), [], []
    while len(out) < count:
        for i in range(apps):
            other = i + stream.below(len(order) - i)
            order[i], order[other] = order[other], order[i]
        if set(order[:apps]) not in sets:
            sets.append(set(order[:apps]))
            out.append(",".join(order[:apps]))
    return out


programs = [e["name"] for e in json.loads(subprocess.check_output([sys.argv[1], "list", "workloads", "--json", "-"]))
            if "mosaic" in e["papers"]]
assert len(programs) == 27
seeded = random.Random(2017)
same = {n: [",".join([p] * n) for p in seeded.sample(sorted(programs), 3)] for n in range(1, 6)}
mixed = {n: seeded.sample(mixes(programs, n, n), 3) for n in range(2, 6)}
ten = [same[1][0], same[1][1]]
for n in range(2, 6):
    ten += [same[n][0], mixed[n][0]]
for name, items in (("ninth-same", sum(same.values(), [])), ("ninth-mixed", sum(mixed.values(), [])), ("ten", ten)):
    print(f"mosaic-{name}:", *items)
# Of MASK's 35 pairs, without the SMs that they may have been given.
lists = re.findall(r"^  mask-\d-hmr: ((?:.*\n)(?:    .*\n)*)", open(sys.argv[2]).read(), re.M)
pairs = sorted(re.sub(r"@[\d+]+", "", pair) for pair in " ".join(lists).split())
assert len(set(pairs)) == 35
print("mask-ten:", *random.Random(2017).sample(pairs, 10))
# Of TLB compression's 22 programs; those that bring their parameters stand in a list of their own.
text = open(sys.argv[2]).read()
all22 = re.search(r"^  compression-22: ((?:.*\n)(?:    .*\n)*)", text, re.M)[1].split()
by_name = {word.removeprefix("compression-"): word for word in all22}
assert len(by_name) == 22
print("compression-eight:", *(by_name[name] for name in random.Random(2020).sample(sorted(by_name), 8)))
PYTHON
python3 draw.py "$pagewalk" "$source_root/experiments/sizes.yaml" >drawn
for list in mosaic-ninth-same mosaic-ninth-mixed mosaic-ten mask-ten compression-eight; do
  check "$list is what the seed draws" eval \
    'sed -n "/^  $list: /,/^  [^ ]/p" "$source_root/experiments/sizes.yaml" | sed "1!{/^  [^ ]/d}; s/@[0-9+]*//g" |
     xargs >listed &&
     grep "^$list: " drawn | diff - listed'
done
# The mixes that the program itself draws, so that the drawing above is the program's. Shown with --each, one line each.
cat >mixes.yaml <<'YAML'
title: The mixes of two
machine: mosaic
variants: {4k: {design: gpu-mmu}}
workloads: {mixed: {random: 25, apps: 2, from: mosaic, seed: 2, quick: 1}}
measures: {n: cycles}
table: {n: n@4k}
YAML
check 'the program draws the same mixes' eval \
  '"$pagewalk" reproduce ./mixes.yaml --each -q --db mixes.db | grep -q "FWT,SC" &&
   grep -q "^mosaic-ninth-mixed:.* FWT,SC " drawn'
finish
