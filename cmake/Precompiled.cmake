# Precompiled headers. Most of what a file costs the compiler is the standard library, Asio and GoogleTest, read anew for
# each. A set names what many files include, and nothing of this project that changes often; each is compiled once in a
# build. CMAKE_DISABLE_PRECOMPILE_HEADERS=ON builds without. A file that forgets an include compiles with them all the
# same; check_headers and the presets fuzz and tidy compile without.
set(PRECOMPILED_STD <algorithm> <array> <atomic> <cerrno> <charconv> <chrono> <condition_variable> <cstddef> <cstdint>
  <cstring> <deque> <functional> <limits> <map> <memory> <mutex> <optional> <set> <span> <string> <string_view> <thread>
  <utility> <vector> [["core/result.h"]])
set(PRECOMPILED_ASIO ${PRECOMPILED_STD} [["asio/ssl.h"]])
set(PRECOMPILED_GTEST <fstream> <sstream> <gmock/gmock.h> <gtest/gtest.h>)

set(precompiled_options)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
  # Without the first, ccache cannot tell that a preprocessed file uses a set. The warnings are those that libstdc++ turns
  # off by pragma in char_traits.h, for they see overruns in std::string that are none: g++ 12 forgets the pragma of a
  # header that is precompiled.
  set(precompiled_options -fpch-preprocess -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
  if(RDMA_EXPORTER_SANITIZE)
    list(APPEND precompiled_options -Wno-maybe-uninitialized)  # inside std::regex; without sanitizers it is on
  endif()
endif()

# rdma_exporter_precompile(NAME LINK lib ... HEADERS <header> ...): the set NAME.
function(rdma_exporter_precompile name)
  cmake_parse_arguments(arg "" "" "LINK;HEADERS" ${ARGN})
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/precompiled/${name}.cpp CONTENT "" @ONLY)
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/precompiled/${name}.cpp)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${name} PRIVATE project_warnings ${arg_LINK})
  target_compile_options(${name} PRIVATE ${precompiled_options})
  target_precompile_headers(${name} PRIVATE ${arg_HEADERS})
  set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER ${PROJECT_SOURCE_DIR}/cmake/precompile)
endfunction()

# rdma_exporter_use_precompiled(TARGET NAME): TARGET, with the same options, sees the set NAME first.
function(rdma_exporter_use_precompiled target name)
  target_compile_options(${target} PRIVATE ${precompiled_options})
  target_precompile_headers(${target} REUSE_FROM ${name})
endfunction()

rdma_exporter_precompile(precompiled_std LINK tl::expected HEADERS ${PRECOMPILED_STD})
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  rdma_exporter_precompile(precompiled_std_hot LINK tl::expected HEADERS ${PRECOMPILED_STD})
  target_compile_options(precompiled_std_hot PRIVATE -O3)
endif()
