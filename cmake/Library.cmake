# The sources of a folder are compiled together (CMAKE_UNITY_BUILD of the presets): what a file costs the compiler is mostly
# the headers, which the folder then reads once. So no two files of a folder use a name for different things, unless they
# are compiled apart.

# rdma_exporter_compile_apart(FILE ...): sources of this folder that are alike, down to the names in them.
function(rdma_exporter_compile_apart)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# rdma_exporter_compile_folders(TARGET): the sources of each folder together.
function(rdma_exporter_compile_folders target)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE folder)
    cmake_path(GET folder PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder)
    string(MAKE_C_IDENTIFIER "${folder}" group)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
endfunction()

# rdma_exporter_library(NAME [SOURCES a.cpp ...] [PUBLIC lib ...] [PRIVATE lib ...] [PRECOMPILED set] [HOT])
# One static library per folder, of every source in it and below unless SOURCES names them; alias rdma_exporter::NAME,
# includes rooted at src/ and at the top.
# PRECOMPILED: the precompiled headers (Precompiled.cmake); default precompiled_std. HOT: what a scrape executes for each
# sample; a release optimizes it with -O3, which saves a tenth of its instructions. Elsewhere -Os halves the code, most of
# which is resident once it has run.
function(rdma_exporter_library name)
  cmake_parse_arguments(arg "HOT" "PRECOMPILED" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  if(NOT arg_PRECOMPILED)
    set(arg_PRECOMPILED precompiled_std)
  endif()
  if(NOT arg_SOURCES)
    file(GLOB_RECURSE arg_SOURCES CONFIGURE_DEPENDS *.cpp)
  endif()
  add_library(${name} STATIC ${arg_SOURCES})
  rdma_exporter_compile_folders(${name})
  if(arg_HOT AND CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(${name} PRIVATE -O3)
    set(arg_PRECOMPILED precompiled_std_hot)  # options have to be the same
  endif()
  add_library(rdma_exporter::${name} ALIAS ${name})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${arg_PUBLIC} PRIVATE project_warnings ${arg_PRIVATE})
  rdma_exporter_use_precompiled(${name} ${arg_PRECOMPILED})
  set_property(GLOBAL APPEND PROPERTY RDMA_EXPORTER_LIBRARIES ${name})
endfunction()

# rdma_exporter_compile_as_test(TARGET). GoogleTest's macros are much code that nothing runs twice: optimizing it and
# looking for undefined behaviour in it takes three times as long as compiling it plainly, and the code under test is in
# the libraries. The address and thread sanitizers stay, for they see what a test and a library do to each other.
function(rdma_exporter_compile_as_test target)
  set_target_properties(${target} PROPERTIES IS_TEST ON)
  if(RDMA_EXPORTER_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
    if(RDMA_EXPORTER_SANITIZE MATCHES "undefined")
      target_compile_options(${target} PRIVATE -fno-sanitize=undefined)
    endif()
  endif()
endfunction()

# rdma_exporter_unit_test(FOLDER ...): the test binary FOLDER_test of every source in FOLDER and below; SOURCES adds others,
# the rest as rdma_exporter_test() takes it.
function(rdma_exporter_unit_test folder)
  cmake_parse_arguments(arg "" "" "SOURCES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  rdma_exporter_test(${folder}_test SOURCES ${sources} ${arg_SOURCES} ${arg_UNPARSED_ARGUMENTS})
endfunction()

# rdma_exporter_test(NAME SOURCES ... LINK ... [LABELS unit|contract threads] [SHARDS n] [PRECOMPILED set]): one GoogleTest
# binary. CTest runs it in so many processes (default 1), each with its share of the tests, not in one process for each test.
# What tests threaded code has the label `threads` too, which is what the preset tsan runs. A report for
# tests/tools/gtest_results.py is left in results/. PRECOMPILED: default precompiled_test.
function(rdma_exporter_test name)
  cmake_parse_arguments(arg "" "SHARDS;PRECOMPILED" "SOURCES;LINK;LABELS" ${ARGN})
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  if(NOT arg_SHARDS)
    set(arg_SHARDS 1)
  endif()
  if(NOT arg_PRECOMPILED)
    set(arg_PRECOMPILED precompiled_test)
  endif()
  add_executable(${name} ${arg_SOURCES})
  rdma_exporter_compile_folders(${name})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE project_warnings GTest::gmock GTest::gtest_main ${arg_LINK})
  rdma_exporter_compile_as_test(${name})
  rdma_exporter_use_precompiled(${name} ${arg_PRECOMPILED})
  # Tests run in the top folder. An absolute path would keep another checkout from finding them in the compiler cache.
  target_compile_definitions(${name} PRIVATE SOURCE_DIR=".")
  math(EXPR last "${arg_SHARDS} - 1")
  foreach(shard RANGE ${last})
    add_test(NAME ${name}.${shard} COMMAND ${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${name}.${shard} PROPERTIES TIMEOUT 300 LABELS "${arg_LABELS}" ENVIRONMENT
      "GTEST_TOTAL_SHARDS=${arg_SHARDS};GTEST_SHARD_INDEX=${shard};GTEST_BRIEF=1;GTEST_OUTPUT=xml:${PROJECT_BINARY_DIR}/results/${name}.${shard}.xml")
  endforeach()
  set_property(GLOBAL APPEND PROPERTY RDMA_EXPORTER_TEST_BINARIES ${name})
  if("threads" IN_LIST arg_LABELS)
    set_property(GLOBAL APPEND PROPERTY RDMA_EXPORTER_THREADS_TEST_BINARIES ${name})
  endif()
endfunction()
