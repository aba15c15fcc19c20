# What every target of the project shares: warnings, sanitizers, include root; and how a folder
# becomes a library, a test binary, a benchmark and fuzz targets.

add_library(rs_settings INTERFACE)
target_include_directories(rs_settings INTERFACE "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
target_compile_features(rs_settings INTERFACE cxx_std_20)
# Designated initializers leave out what keeps its default: that is their point.
target_compile_options(rs_settings INTERFACE -Wall -Wextra -Wconversion -Wshadow
                       -Wno-missing-field-initializers
                       $<$<BOOL:${RS_WERROR}>:-Werror>)
# For tests, linked last: Clang's -Wconversion also warns of int literals that become sizes, which
# tests are full of.
add_library(rs_test_settings INTERFACE)
target_compile_options(rs_test_settings INTERFACE
                       $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 sees overlaps in the standard library's operator+(const char*, string&&) where none are.
  target_compile_options(rs_settings INTERFACE -Wno-restrict)
endif()
if(RS_SANITIZE)
  target_compile_options(rs_settings INTERFACE -fsanitize=${RS_SANITIZE}
                         -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(rs_settings INTERFACE -fsanitize=${RS_SANITIZE})
endif()
if(RS_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "RS_FUZZERS needs Clang (libFuzzer); use the fuzz preset")
  endif()
  if(NOT RS_TESTS)  # whose libraries count no coverage
    target_compile_options(rs_settings INTERFACE -fsanitize=fuzzer-no-link)
  endif()
  # Fuzz targets are large, and there are many.
  find_program(RS_LLD ld.lld)
  if(RS_LLD)
    target_link_options(rs_settings INTERFACE -fuse-ld=lld)
  endif()
endif()

# Optimized in full in a release: what is hot. The rest has the flags of the preset: it is as fast at
# -O1, and tests build in less time at -O0.
set(RS_HOT "-O3" CACHE STRING "Optimization of what is hot, in a Release build")
function(rs_hot)
  foreach(target ${ARGN})
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${RS_HOT}>)
  endforeach()
endfunction()

# Sources compiled alone: in one unit with others of their folder, GCC inlines less of them.
function(rs_hot_paths)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# Large headers of libraries, which Clang parses once for a target and for those that reuse its result.
function(rs_precompile target from)
  if(NOT RS_TESTS OR NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    return()
  endif()
  target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")  # for compiler caches
  if(NOT target STREQUAL from)
    target_precompile_headers(${target} REUSE_FROM ${from})
  else()
    target_precompile_headers(${target} PRIVATE <algorithm> <fmt/format.h> <functional> <map> <optional>
                              <regex> <string> <tl/expected.hpp> <variant> <vector> ${ARGN})
  endif()
endfunction()

# rs_folder(NAME LIBS...): library rs_NAME from the folder's sources (and rs_NAME_testing from those
# in testing/), NAME_test from its *_test.cc, NAME_bench from its *_bench.cc, and a fuzz target for
# each of its *_fuzz.cc.
function(rs_folder name)
  file(GLOB sources CONFIGURE_DEPENDS *.cc */*.cc)
  if(RS_LEFT_OUT)
    list(FILTER sources EXCLUDE REGEX "${RS_LEFT_OUT}")
  endif()
  set(tests ${sources})
  set(benches ${sources})
  set(fuzzers ${sources})
  set(helpers ${sources})
  list(FILTER sources EXCLUDE REGEX "(_test|_bench|_fuzz|main)\\.cc$|/testing/")
  list(FILTER helpers INCLUDE REGEX "/testing/")
  list(FILTER helpers EXCLUDE REGEX "(_test|main)\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER benches INCLUDE REGEX "_bench\\.cc$")
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cc$")

  add_library(rs_${name} STATIC ${sources})
  target_link_libraries(rs_${name} PUBLIC rs_settings ${ARGN})
  set(is_hot FALSE)
  if(name MATCHES "core|formats")
    set(is_hot TRUE)
    rs_hot(rs_${name})
    # The linker keeps the first of equal inline functions: those of the folders that are hot.
    target_link_options(rs_${name} INTERFACE
                        "LINKER:--whole-archive,$<TARGET_FILE:rs_${name}>,--no-whole-archive")
  elseif(name STREQUAL commands)
    rs_precompile(rs_commands rs_commands <nlohmann/json.hpp> <CLI/CLI.hpp>)
  endif()

  if(helpers)
    add_library(rs_${name}_testing STATIC EXCLUDE_FROM_ALL ${helpers})
    target_link_libraries(rs_${name}_testing PUBLIC rs_${name})
    if(is_hot)  # what tests do for long is there
      rs_hot(rs_${name}_testing)
    endif()
  endif()
  if(RS_TESTS AND tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE rs_${name} GTest::gmock GTest::gtest_main
                          $<TARGET_NAME_IF_EXISTS:rs_${name}_testing> rs_test_settings)
    target_compile_definitions(${name}_test PRIVATE
                               RS_TESTDATA="${PROJECT_SOURCE_DIR}/testdata"
                               RS_UNPACKED="${PROJECT_BINARY_DIR}"
                               RS_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    rs_precompile(${name}_test core_test <gmock/gmock.h> <nlohmann/json.hpp>)
    gtest_discover_tests(${name}_test NO_PRETTY_VALUES DISCOVERY_TIMEOUT 120 PROPERTIES TIMEOUT 600)
    set(folder ${name})
    configure_file("${PROJECT_SOURCE_DIR}/cmake/TestLabels.cmake" labels.cmake @ONLY)
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${CMAKE_CURRENT_BINARY_DIR}/labels.cmake")
  endif()
  if(RS_BENCHMARKS AND benches)
    add_executable(${name}_bench ${benches})
    target_link_libraries(${name}_bench PRIVATE rs_${name} benchmark::benchmark_main
                          $<TARGET_NAME_IF_EXISTS:rs_${name}_testing>)
    set_target_properties(${name}_bench PROPERTIES UNITY_BUILD OFF)
    rs_hot(${name}_bench)
  endif()
  if(RS_FUZZERS)
    foreach(fuzzer ${fuzzers})
      get_filename_component(target ${fuzzer} NAME_WE)
      add_executable(${target} ${fuzzer})
      target_link_libraries(${target} PRIVATE rs_${name}
                            $<TARGET_NAME_IF_EXISTS:rs_${name}_testing>)
      target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
      target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    endforeach()
  endif()
endfunction()

# rs_plugin(TARGET SOURCES...): a plug-in for --engine, in the build's plugins/ folder. It exports its
# entry alone, and includes <ringscope/plugin_abi.h> as from an installation.
function(rs_plugin target)
  add_library(${target} MODULE ${ARGN})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/include"
                             "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${target} PRIVATE rs_settings)
  if(NOT RS_SANITIZE)  # whose symbols the program has
    target_link_options(${target} PRIVATE -Wl,--no-undefined)
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD OFF
                        C_STANDARD 11 C_EXTENSIONS OFF C_VISIBILITY_PRESET hidden
                        CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
                        LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/plugins")
endfunction()
