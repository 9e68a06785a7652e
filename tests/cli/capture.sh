#!/usr/bin/env bash
# The recorder's command where nothing can be recorded: what it says, and its exit codes. Its second argument is the command.
capture=$(realpath "$2")
source "$(dirname "$0")/tap.sh"

# says CODE TEXT ARGUMENTS...: one line on standard error with TEXT, nothing on standard output, no file written.
says() {
  local expected=$1 text=$2
  shift 2
  "$capture" "$@" >.stdout 2>.stderr
  code=$?
  [ $code = "$expected" ] && [ ! -s .stdout ] && [ "$(wc -l <.stderr)" = 1 ] && grep -qF -- "$text" .stderr &&
    grep -q '^pagewalk-capture: ' .stderr && [ ! -e t.pwt ] && [ ! -e t.pwt.claim ]
}

check '--help lists every option' eval '"$capture" --help >help && for option in -o --kernels --skip --count --ctas \
  --paused --limit --ring --no-shared --compare; do grep -q -- "^  $option " help || exit 1; done'
check 'without a file nothing is done' says 2 'no file to write' -- true
check 'without a program nothing is done' says 2 'no program to record' -o t.pwt
check 'a rate is 1/N' says 2 "'3' is not 1/N" -o t.pwt --ctas 3 -- true
check 'an unknown option is named' says 2 'unknown option --kernel' -o t.pwt --kernel x -- true
check 'the library has to lie beside the command' says 1 'is not beside this program' -o t.pwt -- true
mkdir beside
cp "$capture" beside/
touch beside/libpagewalk-capture.so beside/pagewalk-capture.fatbin
capture=$work/beside/$(basename "$capture")
export PAGEWALK_SANITIZER=/nowhere
check 'the toolkit has to have the API' says 1 'no libsanitizer-public.so in /nowhere' -o t.pwt -- true
check 'the file has to be one that can be written' says 1 'nowhere/t.pwt.claim: cannot be created: No such file' -o nowhere/t.pwt -- true
check 'a program that fails is not recorded, with --compare' says 1 'fails without being recorded' -o t.pwt --compare -- false
packs() {
  mkdir -p packed/capture tools && cp "$source_root/capture/pack" packed/capture/
  for tool in bash dirname mkdir rm cp du grep gcc; do ln -sf "$(command -v $tool)" tools/; done
  PATH=$work/tools packed/capture/pack 2>.stderr
  [ $? = 1 ] && [ "$(cat .stderr)" = 'capture/pack: no make here' ] && [ -s packed/build-capture-pack/libzstd.so.1 ] &&
    [ -s packed/build-capture-pack/zstd.h ]
}
check 'pack says what is missing and packs the rest' packs
check 'measure and the samples are Python' python3 - "$source_root/capture" <<'PYTHON'
import ast, pathlib, sys
root = pathlib.Path(sys.argv[1])
scripts = [root / "measure", root / "samples/record-all"]
files = list((root / "samples").glob("*.py"))
assert len(files) > 5
for file in [*scripts, *files, root / "pagewalk_capture.py"]:
    ast.parse(file.read_text())
samples = "".join(script.read_text() for script in scripts)
wrong = [f.name for f in files if f.name != "recording.py" and f'"{f.name}"' not in samples]
assert not wrong, wrong
programs = {f.stem for f in (root / "programs").glob("*.cu")}
asked = set(samples.split("PROGRAMS = [")[1].split("]")[0].replace('"', " ").replace(",", " ").split())
assert asked == programs, asked ^ programs
PYTHON

# pagewalk_capture.py, with a library and a framework that write down what is asked of them.
cat >part.py <<'PYTHON'
import ctypes, os, sys, types

said = []


class Library:
    """What CUDA_INJECTION64_PATH names, in the place of the recorder's."""

    def __init__(self, path):
        assert path.endswith("/libpagewalk-capture.so"), path

    def __getattr__(self, name):
        def call(*arguments):
            said.append(" ".join([name.removeprefix("pagewalk_capture_"), *(a.decode() for a in arguments)]))
        self.__dict__[name] = call
        return call


class Module:
    """Of PyTorch, as far as hooks go."""

    def __init__(self, **layers):
        self.layers, self.before, self.after = layers, {}, {}

    def get_submodule(self, name):
        module = self
        for part in name.split(".") if name else []:
            module = module.layers[part]
        return module

    def hook(self, hooks, f):
        key = object()
        hooks[key] = f
        return types.SimpleNamespace(remove=lambda: hooks.pop(key))

    def register_forward_pre_hook(self, f):
        return self.hook(self.before, f)

    def register_forward_hook(self, f, always_call=False):
        assert always_call
        return self.hook(self.after, f)

    def __call__(self, x):
        for f in self.before.values():
            f(self, (x,))
        try:
            if x == "bad":
                raise ValueError(x)
            said.append(f"forward {x}")
        finally:
            for f in self.after.values():
                f(self, (x,), None)


ctypes.CDLL = Library
sys.modules["torch"] = types.SimpleNamespace(cuda=types.SimpleNamespace(
    is_available=lambda: True, synchronize=lambda: said.append("synchronize")))
sys.path.insert(0, sys.argv[1])
import pagewalk_capture as capture


def does(expected, f, *arguments):
    del said[:]
    f(*arguments)
    assert said == expected, (said, expected)


def one_part():
    with capture.record("attention"):
        said.append("kernel")


def nested():
    with capture.record("outer"), capture.record("inner"):
        said.append("kernel")


def fails():
    try:
        with capture.record("part"):
            raise ValueError
    except ValueError:
        pass


def names_only():
    with capture.named("table"):
        said.append("allocate")


model = Module(layers=Module(first=Module()))
layer = model.get_submodule("layers.first")


def passes(*inputs):
    for x in inputs:
        try:
            layer(x)
        except ValueError:
            said.append("failed")


begin, end = ["synchronize", "resume"], ["synchronize", "pause"]
if sys.argv[2] == "outside":
    begin = end = []
    for f, done in ((one_part, ["kernel"]), (nested, ["kernel"]), (fails, []), (names_only, ["allocate"])):
        does(done, f)
else:
    if sys.argv[2] == "whole":
        begin = end = []
    does([*begin, "push attention", "kernel", "pop", *end], one_part)
    does([*begin, "push outer", "push inner", "kernel", "pop", "pop", *end], nested)
    does([*begin, "push part", "pop", *end], fails)
    does(["push table", "allocate", "pop"], names_only)
    hooks = capture.record_layer(model, "layers.first", skip=1, count=2)
    one = [*begin, "push layers.first"]
    does(["forward 1", *one, "forward 2", "pop", *end, *one, "pop", *end, "failed", "forward 4"], passes, 1, 2, "bad", 4)
    hooks.remove()
    does(["forward 5"], passes, 5)
    whole = capture.record_layer(model, "")
    does([*begin, "push Module", "forward x", "pop", *end], model, "x")
PYTHON
part() { env "${@:3}" python3 -B part.py "$source_root/capture" "$1" 2>.stderr && [ "$(cat .stderr)" = "$2" ]; }
check 'a part of a Python program is recorded, and a layer of a model' \
  part paused '' CUDA_INJECTION64_PATH=/x/libpagewalk-capture.so PAGEWALK_CAPTURE=$'-o\nt.pwt\n--paused\n'
check 'without --paused it is named' \
  part whole '' CUDA_INJECTION64_PATH=/x/libpagewalk-capture.so PAGEWALK_CAPTURE=$'-o\nt.pwt\n--kernels\n--paused-not\n'
check 'outside of the recorder it just runs, which is said once' \
  part outside 'pagewalk_capture: not under pagewalk-capture; nothing is recorded' CUDA_INJECTION64_PATH=
finish
