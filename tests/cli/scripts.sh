#!/usr/bin/env bash
# How the Python scripts end: without a word when nobody reads on, with a line when they are interrupted.
source "$(dirname "$0")/tap.sh"

check 'no script minds that nobody reads on' python3 - "$source_root" <<'PYTHON'
import os, pathlib, subprocess, sys
root = pathlib.Path(sys.argv[1])
# What else than --help prints; those that write a file and print nothing have an empty list.
printing = {"bench": [["--help"]], "calibration": [["--print"], ["--print-chart"]], "claim-tests": [],
            "core-version": [[".", "--list"], [".", "--files"]], "embed-claims": [], "embed-configs": [],
            "embed-experiments": [], "embed-results": [], "list-sources": [["src"]], "picture": [["--print"]],
            "reflow-comments": [["--help"]], "results": [["mosaic", "--print"], ["--help"]],
            "traced-programs": [["--print"]], "workloads-doc": [["--print"]]}
for script in sorted((root / "scripts").iterdir()):
    if not script.is_file() or not script.read_text().startswith("#!/usr/bin/env python3"):
        continue
    assert script.read_text().rstrip().splitlines()[-1].strip().endswith(("run(main)", "run(measured)")), script.name
    for arguments in printing.get(script.name, [["--help"]]):
        ours, theirs = os.pipe()
        os.close(ours)
        run = subprocess.run([script, *arguments], cwd=root, stdout=theirs, stderr=subprocess.PIPE, text=True)
        os.close(theirs)
        ends = (0, 141) if arguments == ["--help"] else (141,)  # argparse minds no error of its own
        assert run.returncode in ends and not run.stderr, (script.name, arguments, run.returncode, run.stderr)
PYTHON
for signal in INT TERM; do
  check "SIG$signal ends a script with a line" python3 - "$source_root" $signal <<'PYTHON'
import signal, subprocess, sys
waits = "import script, sys, time; sys.argv = ['scripts/waits']; script.run(lambda: (print('now', flush=True), time.sleep(60)))"
run = subprocess.Popen([sys.executable, "-c", waits], cwd=sys.argv[1] + "/scripts", stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, text=True)
run.stdout.readline()
run.send_signal(signal.Signals["SIG" + sys.argv[2]])
_, said = run.communicate()
assert (run.returncode, said) == (130, "waits: interrupted; nothing is written\n"), (run.returncode, said)
PYTHON
done
check 'what main returns is the exit code' python3 - "$source_root" <<'PYTHON'
import subprocess, sys
for value, code in (("None", 0), ("0", 0), ("1", 1)):
    run = subprocess.run([sys.executable, "-c", f"import script; script.run(lambda: {value})"], cwd=sys.argv[1] + "/scripts")
    assert run.returncode == code, (value, run.returncode)
PYTHON
finish
