"""JAX preallocates a pool when it starts; here 256 MiB, of which 45 MiB are touched."""

import os
import subprocess

POOL = 256 << 20


def total_memory():
    said = subprocess.run(["nvidia-smi", "--query-gpu=memory.total", "--format=csv,noheader,nounits"], check=True,
                          capture_output=True, text=True).stdout
    return int(said.split()[0]) << 20


os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "true"
os.environ["XLA_PYTHON_CLIENT_MEM_FRACTION"] = f"{POOL / total_memory():.6f}"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

from recording import named, record  # noqa: E402

COUNT = 15 << 18  # 15 MiB in floats


@jax.jit
def step(x, y):
    return jnp.tanh(x) + 2 * y


with named("pool"):
    x = jax.block_until_ready(jnp.linspace(0, 1, COUNT, dtype=jnp.float32))
y = jax.block_until_ready(jnp.ones(COUNT, dtype=jnp.float32))
jax.block_until_ready(step(x, y))  # compiles it
with record("step"):
    z = jax.block_until_ready(step(x, y))
if abs(float(z[-1]) - 2.7615942) > 1e-4:
    raise SystemExit(f"the result is wrong: {float(z[-1])}")
