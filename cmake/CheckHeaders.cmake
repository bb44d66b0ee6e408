# Target check_headers: every header compiles alone. Each gets a file that includes nothing else, compiled without the
# precompiled headers, behind which a missing include would not show.
file(GLOB_RECURSE headers RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/src/*.h ${PROJECT_SOURCE_DIR}/collectors/*.h)
set(stubs)
foreach(header IN LISTS headers)
  string(MAKE_C_IDENTIFIER ${header} id)
  set(stub ${PROJECT_BINARY_DIR}/check_headers/${id}.cpp)
  file(CONFIGURE OUTPUT ${stub} CONTENT "#include \"${header}\"\n" @ONLY)
  list(APPEND stubs ${stub})
endforeach()
get_property(libraries GLOBAL PROPERTY RDMA_EXPORTER_LIBRARIES)
add_library(check_headers OBJECT EXCLUDE_FROM_ALL ${stubs})
set_target_properties(check_headers PROPERTIES UNITY_BUILD OFF)
target_include_directories(check_headers PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}
  ${PROJECT_BINARY_DIR}/generated)
target_link_libraries(check_headers PRIVATE project_warnings ${libraries})
# What it compiles never runs.
target_compile_options(check_headers PRIVATE -O0 -g0 -fno-sanitize=all)
