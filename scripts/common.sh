# What the scripts share; source it from a script in this folder. Sets $root and goes there.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1

# Builds the release program into build/, optimised as a whole, without tests and prints nothing unless it fails.
build_release() {
  mkdir -p build
  {
    [ -e build/build.ninja ] || meson setup build -Dtests=false -Db_lto=true
    ninja -C build -j "$(nproc)" pagewalk
  } >build/quickstart.log 2>&1 || { tail -n 20 build/quickstart.log >&2; echo "the build failed; see build/quickstart.log" >&2; exit 1; }
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
