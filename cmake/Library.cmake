# rdma_exporter_library(NAME SOURCES a.cpp ... [PUBLIC lib ...] [PRIVATE lib ...])
# One static library per folder, alias rdma_exporter::NAME, includes rooted at src/ and at the top.
function(rdma_exporter_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  add_library(rdma_exporter::${name} ALIAS ${name})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${arg_PUBLIC} PRIVATE project_warnings ${arg_PRIVATE})
  set_property(GLOBAL APPEND PROPERTY RDMA_EXPORTER_LIBRARIES ${name})
endfunction()

# rdma_exporter_test(NAME SOURCES ... LINK ... [LABEL unit|contract]): one GoogleTest binary, each test registered with
# CTest under the label (default unit).
function(rdma_exporter_test name)
  cmake_parse_arguments(arg "" "LABEL" "SOURCES;LINK" ${ARGN})
  if(NOT arg_LABEL)
    set(arg_LABEL unit)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE project_warnings GTest::gmock GTest::gtest_main ${arg_LINK})
  set_target_properties(${name} PROPERTIES IS_TEST ON)
  # Tests are compiled more often than they run; what they test is optimised as it ships.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:-O1>)
  target_compile_definitions(${name} PRIVATE SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 120 LABELS ${arg_LABEL})
endfunction()
