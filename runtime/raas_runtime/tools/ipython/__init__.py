"""IPython in a sandbox: a zygote that has it imported, and kernels forked from it. No ZMQ, no ports.

session.py is the tool in the action server; zygote.py and kernel.py its handles on the two other processes, whose code
is in zygote_main.py, worker.py, shell.py and stream.py.
"""

from raas_runtime.tools.ipython.session import IPython

__all__ = ["IPython"]
