"""Records a part of a Python program, such as one layer of a model, with pagewalk's recorder.

  with pagewalk_capture.record("attention"):
      y = layer(x)

  pagewalk_capture.record_layer(model, "encoder.layers.3.self_attn", skip=2, count=1)

and then, with the folder of this file in PYTHONPATH

  build-capture/pagewalk-capture --paused --names -o layer.pwt -- python3 program.py

Kernels that run inside are recorded; memory that is allocated inside has the name in the trace (--names). Without --paused
all of the program is recorded, and names are given all the same. Where the program does not run under the recorder nothing
happens, and one line on standard error says so.

Before and after a part the GPU is synchronised, through PyTorch or CuPy where the program has imported them. JAX starts
kernels from threads of its own: there call jax.block_until_ready within the part.
"""

import contextlib
import ctypes
import os
import sys

_recorder = None
_looked = False
_depth = 0


def recorder():
    """The recorder's library in this process; None: the program does not run under it."""
    global _recorder, _looked
    if not _looked:
        _looked = True
        path = os.environ.get("CUDA_INJECTION64_PATH", "")
        if os.path.basename(path) == "libpagewalk-capture.so":
            _recorder = ctypes.CDLL(path)
            _recorder.pagewalk_capture_push.argtypes = [ctypes.c_char_p]
        else:
            print("pagewalk_capture: not under pagewalk-capture; nothing is recorded", file=sys.stderr)
    return _recorder


def synchronize():
    """Waits for what the program's framework has started on the GPU."""
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.synchronize()
    elif cupy is not None:
        cupy.cuda.runtime.deviceSynchronize()


def _is_paused():
    """Whether the recorder waits for parts (--paused); its library is given the options line by line."""
    return "--paused" in os.environ.get("PAGEWALK_CAPTURE", "").split("\n")


def begin(name):
    """Begins a part. Parts may lie within each other; the innermost names what is allocated."""
    global _depth
    library = recorder()
    if not library:
        return
    if _depth == 0 and _is_paused():
        synchronize()
        library.pagewalk_capture_resume()
    _depth += 1
    library.pagewalk_capture_push(str(name).encode())


def end():
    """Ends the part that began last."""
    global _depth
    library = recorder()
    if not library or not _depth:
        return
    library.pagewalk_capture_pop()
    _depth -= 1
    if _depth == 0 and _is_paused():
        synchronize()
        library.pagewalk_capture_pause()


@contextlib.contextmanager
def record(name="recorded"):
    """What runs inside is recorded."""
    begin(name)
    try:
        yield
    finally:
        end()


@contextlib.contextmanager
def named(name):
    """Memory that is allocated inside has the name in the trace; whether it is recorded stays as it is. As an NVTX range,
    for frameworks that have none."""
    library = recorder()
    if library:
        library.pagewalk_capture_push(str(name).encode())
    try:
        yield
    finally:
        if library:
            library.pagewalk_capture_pop()


class Layer:
    """Hooks of a layer whose forward passes are recorded; see record_layer."""

    def __init__(self, module, name, skip, count):
        self.name, self.skip, self.last = name, skip, None if count is None else skip + count
        self.calls, self.open = 0, []
        self.handles = [module.register_forward_pre_hook(self._enter)]
        try:
            after = module.register_forward_hook(self._leave, always_call=True)
        except TypeError:  # PyTorch before 2.1 does not call it after an exception
            after = module.register_forward_hook(self._leave)
        self.handles.append(after)

    def _enter(self, *_):
        wanted = self.skip <= self.calls and (self.last is None or self.calls < self.last)
        self.calls += 1
        self.open.append(wanted)
        if wanted:
            begin(self.name)

    def _leave(self, *_):
        if self.open and self.open.pop():
            end()

    def remove(self):
        """Takes the hooks off."""
        for handle in self.handles:
            handle.remove()


def record_layer(model, name, skip=0, count=None):
    """Records forward passes of the layer `name` of a PyTorch model, "" for the model itself: not the first `skip`, then
    `count`, or all. Returns an object whose remove() ends it."""
    return Layer(model.get_submodule(name), name or type(model).__name__, skip, count)
