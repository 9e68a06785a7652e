#!/usr/bin/env bash
# The library from outside: the example of docs/stream.md prints what the page says, its command for the compiler works,
# and what is installed is enough. Arguments: the program, the example, the library it was built with, b_sanitize.
probe=$(realpath "$2")
library=$(realpath "$3")
sanitize=$4
source "$(dirname "$0")/tap.sh"
page=$source_root/docs/stream.md
build=$(dirname "$pagewalk")

check 'the examples of docs/stream.md are what the program prints' python3 - "$page" "$probe" <<'PYTHON'
import pathlib, re, subprocess, sys
page, probe = pathlib.Path(sys.argv[1]).read_text(), pathlib.Path(sys.argv[2])
examples = re.findall(r"```\n\$ (.*tlb_probe .*)\n((?:.*\n)+?)```", page)
assert len(examples) >= 2, examples
for command, expected in examples:
    printed = subprocess.run(["bash", "-c", f'PATH="{probe.parent}:$PATH"; {command}'], capture_output=True, text=True)
    assert printed.returncode == 0 and printed.stderr == "", (command, printed)
    assert printed.stdout == expected, (command, printed.stdout)
PYTHON

# The command as the page has it, with the library and the sanitizers of this build.
command=$(sed -n '/^cc .*tlb_probe\.c/p' "$page")
[ "$sanitize" = none ] || command="$command -fsanitize=$sanitize"
command=${command//build\/src\/libpagewalk.a/$library}
command=${command//examples/$source_root/examples}
compiles() { eval "${command//-Iinclude/-I$1}"; }
probes() { seq 0 4096 40960 | "$1" mosaic gpu-mmu; }
check 'the command of docs/stream.md compiles it' compiles "$source_root/include"
check 'into the same program' eval 'probes "$probe" >ours && probes ./tlb_probe >theirs && diff ours theirs'

check 'headers, library and package are installed' meson install -C "$build" --no-rebuild --tags devel \
  --destdir "$work/installed" --quiet
for file in pagewalk.h status.h stream.h libpagewalk.a pagewalk.pc; do
  check "$file is" test -n "$(find "$work/installed" -name "$file")"
done
headers=$(dirname "$(dirname "$(find "$work/installed" -name stream.h)")")
check 'the headers need nothing else' compiles "$headers"
cxx_reads_the_headers() {
  printf '#include <pagewalk/stream.h>\nint main() { return pw_stream_now(nullptr) != 0; }\n' >main.cc
  c++ -Wall -Wextra -Werror -fsyntax-only "-I$headers" main.cc
}
if command -v c++ >/dev/null; then
  check 'C++ reads them too' cxx_reads_the_headers
fi

refuses() { # CODE REGEX, its standard input a list
  "$probe" "${@:3}" >out 2>err
  [ $? = "$1" ] && grep -qE "$2" err
}
check 'a line that is no address is refused' eval 'printf "0x1000\nfoo\n" | refuses 2 "line 2 is not an address" mosaic gpu-mmu'
check 'a line too long for one is not taken for two' eval \
  'printf "%0200d\n" 1 | refuses 2 "line 1 is not an address" mosaic gpu-mmu'
check 'a last line may end with the file' eval 'printf 4096 | "$probe" mosaic gpu-mmu'
check 'a design that does not exist is refused' eval 'echo 0 | refuses 2 "unknown design .gpu-nmu." mosaic gpu-nmu'
check 'and an address of more than 48 bits' eval 'echo 0x1000000000000 | refuses 2 "below 2\^48" mosaic gpu-mmu'
finish
