# shellcheck shell=bash
# The benchmarks with rows and a page: each sets up, builds what it measures, and runs a module of ci/jobs.

# measure_rows MODULE TARGETS ARGUMENT...: TARGETS are words, in one string. Help needs none of them.
measure_rows() {
  local module=$1 targets=$2
  shift 2
  case " $* " in
    *" --help "* | *" -h "*) ;;
    *)
      ci/setup --check >&2
      cmake --preset release -DSTEERTAG_BENCH=ON >&2
      # shellcheck disable=SC2086 # words
      cmake --build --preset release --target $targets >&2
      ;;
  esac
  PYTHONPATH=$PWD exec build/venv/bin/python -B -m "ci.jobs.$module" "$@"
}
