# Every target works on a fresh clone: the environment in .venv is made on first use, and brought up
# to date when requirements.lock or pyproject.toml has changed. PYTHON=... names another interpreter.

VENV := .venv
PY := $(VENV)/bin/python
UV_VERSION := 0.13.9

# The main job: a convolutional network, all methods side by side.
ARGS ?= +task=cnn seeds=1
PYTEST_ARGS ?= -n 2 --dist worksteal
UPGRADE ?=

export PYTHON

.PHONY: help run test notebooks lab lint lock clean venv
.DEFAULT_GOAL := help

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 18

venv: ## make the environment, or bring it up to date
	@.ci/setup.sh

run: venv ## run experiments: make run ARGS="+task=svm scale=laptop"
	@set -f; $(PY) -m benchmarks.run $(ARGS)

# One thread a worker: what is tested must not depend on the number of cores, and workers must not fight for them.
# Commands that the tests start keep the modules that they compile, as a user's do.
test: export OMP_NUM_THREADS = 1
test: export OPENBLAS_NUM_THREADS = 1
test: export MKL_NUM_THREADS = 1
test: export TF_NUM_INTRAOP_THREADS = 1
test: export TF_NUM_INTEROP_THREADS = 1
test: export BTAO_OFFLINE = 1
test: venv ## run the tests: make test PYTEST_ARGS="-k space"
	@env -u PYTHONDONTWRITEBYTECODE $(PY) -m pytest $(PYTEST_ARGS)

# At the committed reference results the notebooks are rewritten where they lie; at another scale they
# are only executed, and what they drew is left in build/notebooks.
notebooks: export JUPYTER_PREFER_ENV_PATH = 1
notebooks: venv ## re-execute the notebooks: make notebooks BTAO_SCALE=smoke
	@$(PY) -m nbconvert --to notebook --execute --ExecutePreprocessor.record_timing=False \
		$(if $(BTAO_SCALE),--output-dir=build/notebooks,--inplace) notebooks/*.ipynb

lab: export JUPYTER_PREFER_ENV_PATH = 1
lab: venv ## open the notebooks in JupyterLab
	@$(PY) -m jupyterlab notebooks

lint: venv ## check style, format and types
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy

# Universal: one file for all supported Python versions and platforms. netifaces is left out on purpose, see
# the extra `bohb`. UPGRADE=1 moves every version to the newest that fits; without it only what must move does.
lock: venv ## resolve requirements.lock anew: make lock UPGRADE=1
	@$(PY) -m venv .venv-lock
	@.venv-lock/bin/python -m pip install -qq --disable-pip-version-check uv==$(UV_VERSION)
	@.venv-lock/bin/uv pip compile --quiet --no-config $(if $(UPGRADE),--upgrade) \
		--universal --python-version 3.11 --extra suite --extra bohb --extra notebooks --extra test --group setup \
		--no-emit-package netifaces --no-annotate --custom-compile-command "make lock" \
		--output-file requirements.lock pyproject.toml

clean: ## remove the environment, caches and build outputs; results stay
	@rm -rf $(VENV) .venv-lock build dist *.egg-info .pytest_cache .ruff_cache .mypy_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
