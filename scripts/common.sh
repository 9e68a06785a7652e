# What the scripts share; source it from a script in this folder. Sets $root and goes there.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1

# Builds the release program without tests, and prints nothing unless that fails.
build_release() { # [FOLDER MESON-OPTION...]
  local folder=${1:-build}
  local log=$folder/build.log
  mkdir -p "$folder"
  {
    [ -e "$folder/build.ninja" ] || meson setup "$folder" -Dtests=false "${@:2}"
    ninja -C "$folder" -j "$(nproc)" pagewalk
  } >"$log" 2>&1 || { tail -n 20 "$log" >&2; echo "the build failed; see $log" >&2; exit 1; }
}

# small_workloads: a line per workload, its name and the name with a size: large enough to leave the TLBs' reach, small
# enough that all of them take less than a minute on one core. alu has no memory accesses and nothing to translate. The
# benchmarks of Mosaic and MASK run at a tenth of their size. $pagewalk is the program, build/pagewalk by default.
small_workloads() {
  local name
  "${pagewalk:-build/pagewalk}" list workloads --json - | python3 -c 'import json, sys; print(*(w["name"] for w in json.load(sys.stdin)), sep="\n")' |
    while read -r name; do
      case "$name" in
        trace) ;; # what others have recorded
        alu | hotspot | backprop | nw) ;; # the last three: second names of HS, BP and NW
        gather) echo gather gather:iterations=2:table=256MB ;;
        pointer_chase) echo pointer_chase pointer_chase:bytes=64MB:hops=10000 ;;
        MM) echo MM MM:m=512:n=512:k=256 ;;
        vecadd) echo vecadd vecadd ;;
        MUM) echo MUM MUM:scale=0.02 ;;
        *) echo "$name $name:scale=0.1" ;;
      esac
    done
}

# csv_value FILE APP COMPONENT METRIC: one value of a result in CSV. The first field may hold quoted commas, so fields
# are counted from the end.
csv_value() {
  awk -F, -v app="$2" -v component="$3" -v metric="$4" \
    '$(NF-4) == app && $(NF-3) == component && $(NF-2) == metric { print $NF; exit }' "$1"
}

# divide A B FORMAT: A / B, or "-" when B is 0 or missing.
divide() {
  awk -v a="${1:-0}" -v b="${2:-0}" -v f="$3" 'BEGIN { if (b > 0) printf f, a / b; else printf "-" }'
}

# 1234567 becomes 1,234,567.
grouped() {
  sed -E ':a; s/^([0-9]+)([0-9]{3})/\1,\2/; ta' <<<"${1:--}"
}
