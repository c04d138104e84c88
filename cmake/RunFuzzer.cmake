# Runs one fuzz target on a scratch copy of its seeds, so that the committed corpus stays as it is.
# Takes FUZZER, CORPUS, SCRATCH, LIMIT (runs=INPUTS or max_total_time=SECONDS) and LONGEST (octets) by
# -D. What it finds is kept in SCRATCH/findings.
foreach(variable FUZZER CORPUS SCRATCH LIMIT LONGEST)
  if(NOT DEFINED ${variable})
    message(FATAL_ERROR "RunFuzzer.cmake needs -D${variable}=...")
  endif()
endforeach()

file(GLOB seeds ${CORPUS}/*)
if(NOT seeds)
  message(FATAL_ERROR "No seeds in ${CORPUS}: the corpus is missing or at another place.")
endif()
file(REMOVE_RECURSE ${SCRATCH}/corpus)
file(MAKE_DIRECTORY ${SCRATCH}/corpus ${SCRATCH}/findings)
file(COPY ${seeds} DESTINATION ${SCRATCH}/corpus)

# A fixed seed: a run that fails fails again.
execute_process(
  COMMAND ${FUZZER} -seed=1 -${LIMIT} -max_len=${LONGEST} -timeout=10
    -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix=${SCRATCH}/findings/ ${SCRATCH}/corpus
  RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${FUZZER} failed (${result}); its input is in ${SCRATCH}/findings.")
endif()
