# Each command sets up .venv by itself. args="..." is handed on: make test args="-k ledger".
PYTHON_IN = .venv/bin/python
args =

.PHONY: help demo test check bench docs venv clean

help:
	@echo "make demo    the service with an embedded model: submits math tasks, shows live what becomes of them"
	@echo "make test    all tests but the slow ones"
	@echo "make check   format, lint, types, rules of the house"
	@echo "make bench   our speed beside floors measured in the same run"
	@echo "make docs    write docs/reference again from the code"
	@echo "make clean   remove .venv and all caches"

demo: venv
	$(PYTHON_IN) examples/demo/demo.py $(args)

test: venv
	$(PYTHON_IN) -m pytest -m "not slow" $(args)

check: venv
	$(PYTHON_IN) -m ruff format --check .
	$(PYTHON_IN) -m ruff check .
	$(PYTHON_IN) -m mypy raas_sdk runtime/raas_runtime plugins/math/raas_math bench
	$(PYTHON_IN) -m pytest -q tests/contract

bench: venv
	$(PYTHON_IN) bench $(args)

docs: venv
	$(PYTHON_IN) docs/generate.py

venv:
	@scripts/venv

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
	find raas_sdk runtime plugins tests bench -name __pycache__ -type d -prune -exec rm -rf {} +
