# Warnings of every target of this project. g++ knows more of them than clang. -Wrestrict of g++ 12 sees overlaps in
# std::string's operator+ that are none.
add_library(project_warnings INTERFACE)
target_compile_options(project_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  -Wold-style-cast -Woverloaded-virtual -Wcast-align -Wunused -Wdouble-promotion -Wformat=2
  $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond;-Wduplicated-branches;-Wlogical-op;-Wuseless-cast;-Wno-restrict>
  # Not for tests: g++ 12 sees null pointers inside std::vector and gmock that are none.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<NOT:$<BOOL:$<TARGET_PROPERTY:IS_TEST>>>>:-Wnull-dereference>)
if(RDMA_EXPORTER_WERROR)
  target_compile_options(project_warnings INTERFACE -Werror)
endif()
