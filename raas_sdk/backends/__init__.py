"""Where tokens come from: pools of inference servers, leases on them, and one client for every wire they speak.

`pool`, `backend` and `lease` hold state and do no I/O; `client` and the wires do the I/O and hold no pool.
"""
