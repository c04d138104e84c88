# Functions that declare the project's targets: one library per engine folder, one test program per
# library, one fuzzer per decoder.
include_guard()

set(CMAKE_CXX_EXTENSIONS OFF)
# Not where GCC precompiles headers. The cache would give out a header of another checkout, whose files have other times.
# GCC tells headers with `#pragma once` apart by their times, and would read them twice.
find_program(CCACHE_PROGRAM ccache)
if(STEERTAG_QUICK AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  set(CCACHE_PROGRAM "")
endif()
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  if(STEERTAG_QUICK)
    # ccache's manual asks for this where headers are precompiled.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
  endif()
endif()

# Twelve keep two cores busy to the end.
set(STEERTAG_SOURCES_A_UNIT 12 CACHE STRING "Sources that make one unit with STEERTAG_QUICK")

add_library(steertag_sanitize INTERFACE)
if(STEERTAG_SANITIZE)
  target_compile_options(steertag_sanitize INTERFACE -fsanitize=${STEERTAG_SANITIZE} -fno-omit-frame-pointer)
  target_compile_options(steertag_sanitize INTERFACE -fno-sanitize-recover=all)
  # Clang's check of virtual tables opens a pipe: a process that has no descriptors left would fail it.
  target_compile_options(steertag_sanitize INTERFACE $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=vptr>)
  # Two of its checks find what the address sanitizer finds, too: object sizes, a quarter of a library's compilation,
  # and null, a twentieth. Only a null reference that is bound and never used is not seen.
  if(STEERTAG_SANITIZE MATCHES "address")
    target_compile_options(steertag_sanitize INTERFACE -fno-sanitize=object-size,null)
  endif()
  target_link_options(steertag_sanitize INTERFACE -fsanitize=${STEERTAG_SANITIZE})
  # A quarter of the time of GNU's linker, for sixty programs.
  target_link_options(steertag_sanitize INTERFACE $<$<CXX_COMPILER_ID:Clang>:-fuse-ld=lld>)
endif()

# For what no fuzzer links: the counters that steer fuzzers take a sixth of its compilation. Not `-fno-sanitize`: Clang
# would refuse the precompiled header, which was made with the option.
add_library(steertag_unfuzzed INTERFACE)
if(STEERTAG_SANITIZE MATCHES "fuzzer")
  target_compile_options(steertag_unfuzzed INTERFACE
    -fno-sanitize-coverage=edge,indirect-calls,inline-8bit-counters,pc-table,stack-depth,trace-cmp)
endif()

add_library(steertag_options INTERFACE)
target_compile_options(steertag_options INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
# GCC 12 sees an overlap in std::string's operator+ that is not there (its bug 105651), at -O2 only.
target_compile_options(steertag_options INTERFACE
  $<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU>>:-Wno-restrict>)
target_link_libraries(steertag_options INTERFACE steertag_sanitize)
if(STEERTAG_QUICK AND CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  # ccache's manual asks for this, too: else each checkout's header is another.
  target_compile_options(steertag_options INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
endif()

# Optimising GoogleTest and rapidcheck templates doubles the build and finds nothing. Checks of undefined behaviour in
# them take half as long again, line numbers a tenth. The libraries under test have those checks, and lines. The
# macros of tests name the source: without the checkout's place in that name, one compiler cache serves every checkout.
# A target's own options come before those of what it links, and the last one counts: so these are linked.
add_library(steertag_options_of_tests INTERFACE)
target_compile_options(steertag_options_of_tests INTERFACE
  -O0 -fno-sanitize=undefined -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
if(STEERTAG_SANITIZE)
  target_compile_options(steertag_options_of_tests INTERFACE -g0)
endif()
if(STEERTAG_FUZZ)
  target_compile_options(steertag_options_of_tests INTERFACE -fno-sanitize=fuzzer-no-link)
endif()

# Compiles the sources of a target with the precompiled header `header`, if STEERTAG_QUICK is on. Targets
# with the same options give the same `owner`, the target that makes the header for all of them.
function(steertag_precompile target owner header)
  if(NOT STEERTAG_QUICK)
    return()
  endif()
  if(target STREQUAL owner)
    target_precompile_headers(${target} PRIVATE ${header})
  else()
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
endfunction()

# steertag_library(NAME SOURCES a.cpp ... LINKS steertag_x ... [ALONE b.cpp ...] [UNFUZZED]): the engine folder's
# library. ALONE names sources whose own names clash with those of others; they share no unit. UNFUZZED: no fuzzer links it.
function(steertag_library name)
  cmake_parse_arguments(ARG "UNFUZZED" "" "SOURCES;LINKS;ALONE" ${ARGN})
  add_library(steertag_${name} STATIC ${ARG_SOURCES})
  add_library(steertag::${name} ALIAS steertag_${name})
  set_target_properties(steertag_${name} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_compile_features(steertag_${name} PUBLIC cxx_std_20)
  target_include_directories(steertag_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/engine> $<INSTALL_INTERFACE:include/steertag>)
  target_link_libraries(steertag_${name} PUBLIC ${ARG_LINKS} tl::expected PRIVATE $<BUILD_INTERFACE:steertag_options>)
  if(ARG_UNFUZZED)
    target_link_libraries(steertag_${name} PRIVATE $<BUILD_INTERFACE:steertag_unfuzzed>)
  endif()
  set_property(GLOBAL APPEND PROPERTY STEERTAG_LIBRARIES steertag_${name})
  set_source_files_properties(${ARG_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  if(STEERTAG_QUICK)
    set_target_properties(steertag_${name} PROPERTIES
      UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${STEERTAG_SOURCES_A_UNIT})
    # GCC 12 sees overflows in std::string that are not there, where it inlines across sources.
    target_compile_options(steertag_${name} PRIVATE
      $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow> $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds>)
  endif()
  steertag_precompile(steertag_${name} steertag_wire ${PROJECT_SOURCE_DIR}/engine/precompiled.h)
endfunction()

# The header that all unit tests share, with STEERTAG_QUICK.
function(steertag_precompile_tests)
  if(TARGET steertag_precompiled_tests OR NOT STEERTAG_QUICK)
    return()
  endif()
  file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/precompiled_tests.cpp CONTENT "")
  add_library(steertag_precompiled_tests OBJECT ${CMAKE_BINARY_DIR}/precompiled_tests.cpp)
  target_compile_features(steertag_precompiled_tests PRIVATE cxx_std_20)
  target_include_directories(steertag_precompiled_tests PRIVATE ${PROJECT_SOURCE_DIR}/engine)
  target_link_libraries(steertag_precompiled_tests PRIVATE
    tl::expected GTest::gtest GTest::gmock rapidcheck steertag_options steertag_options_of_tests)
  target_precompile_headers(steertag_precompiled_tests PRIVATE
    ${PROJECT_SOURCE_DIR}/engine/precompiled.h <gtest/gtest.h> <gmock/gmock.h>)
endfunction()

set(STEERTAG_TESTS_A_UNIT 6 CACHE STRING "Test sources that make one unit with STEERTAG_QUICK")

# steertag_test(NAME SOURCES a_test.cpp ... LINKS steertag_x ... [ALONE b_test.cpp ...] [THREADS]): one GoogleTest
# program. ALONE names sources whose own names clash with those of others; they share no unit. The tests of a program
# with THREADS have threads of their own: ci/check runs those under ThreadSanitizer too, by the target and the label `threads`.
function(steertag_test name)
  if(NOT STEERTAG_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "THREADS" "" "SOURCES;LINKS;ALONE" ${ARGN})
  add_executable(${name}_test ${ARG_SOURCES})
  set_source_files_properties(${ARG_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  if(STEERTAG_QUICK)
    set_target_properties(${name}_test PROPERTIES
      UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${STEERTAG_TESTS_A_UNIT})
  endif()
  target_link_libraries(${name}_test PRIVATE
    ${ARG_LINKS} GTest::gtest_main GTest::gmock rapidcheck steertag_options steertag_options_of_tests)
  steertag_precompile_tests()
  steertag_precompile(${name}_test steertag_precompiled_tests "")
  set(label unit)
  if(ARG_THREADS)
    set(label threads)
    if(NOT TARGET threads_tests)
      add_custom_target(threads_tests)
    endif()
    add_dependencies(threads_tests ${name}_test)
  endif()
  include(GoogleTest)
  gtest_discover_tests(${name}_test DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 120 LABELS ${label}
    ENVIRONMENT RC_PARAMS=seed=1)  # property tests draw the same cases in every run
endfunction()

set(STEERTAG_FUZZ_LIMIT max_total_time=5 CACHE STRING "Where CTest ends each fuzzer: runs=INPUTS or max_total_time=SECONDS")

# steertag_fuzzer(NAME SOURCE x_fuzz.cpp CORPUS dir LINKS ... [LONGEST octets]): one libFuzzer
# program and a CTest test labelled `fuzz`. The test runs it to STEERTAG_FUZZ_LIMIT from the
# seeds in CORPUS, a directory relative to the caller's. The engine must be compiled with Clang and
# -fsanitize=fuzzer-no-link (preset asan). What a fuzzer learns, and an input that breaks something,
# stay in the build directory under fuzz/NAME.
function(steertag_fuzzer name)
  if(NOT STEERTAG_FUZZ)
    return()
  endif()
  cmake_parse_arguments(ARG "" "SOURCE;CORPUS;LONGEST" "LINKS" ${ARGN})
  if(NOT ARG_LONGEST)
    set(ARG_LONGEST 4096)
  endif()
  get_filename_component(ARG_CORPUS ${ARG_CORPUS} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
  add_executable(${name}_fuzz ${ARG_SOURCE})
  target_link_libraries(${name}_fuzz PRIVATE ${ARG_LINKS} steertag_options)
  target_compile_options(${name}_fuzz PRIVATE -fPIC)  # as the libraries, whose precompiled header it takes
  steertag_precompile(${name}_fuzz steertag_wire "")
  target_link_options(${name}_fuzz PRIVATE -fsanitize=fuzzer)
  if(NOT TARGET fuzzers)
    add_custom_target(fuzzers)
  endif()
  add_dependencies(fuzzers ${name}_fuzz)
  add_test(NAME fuzz.${name} COMMAND ${CMAKE_COMMAND}
    -DFUZZER=$<TARGET_FILE:${name}_fuzz> -DCORPUS=${ARG_CORPUS}
    -DSCRATCH=${CMAKE_BINARY_DIR}/fuzz/${name}
    -DLIMIT=${STEERTAG_FUZZ_LIMIT} -DLONGEST=${ARG_LONGEST}
    -P ${PROJECT_SOURCE_DIR}/cmake/RunFuzzer.cmake)
  string(REGEX REPLACE "^(runs|max_total_time)=" "" timeout ${STEERTAG_FUZZ_LIMIT})
  if(STEERTAG_FUZZ_LIMIT MATCHES ^runs=)
    math(EXPR timeout "${timeout} / 100")  # more than ten times as long as any needs with sanitizers
  endif()
  math(EXPR timeout "${timeout} + 60")
  set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz TIMEOUT ${timeout})
endfunction()
