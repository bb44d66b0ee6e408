# The tables of what kernel counters are exported as. Included by collectors/CMakeLists.txt.
set(COUNTER_TABLE_SOURCES
  gauge_names.cpp hw_table.cpp pma_table.cpp port_families.cpp
  hw_tables/bnxt_re.cpp hw_tables/cxgb4.cpp hw_tables/efa.cpp hw_tables/erdma.cpp hw_tables/hfi1.cpp hw_tables/hns.cpp
  hw_tables/irdma.cpp hw_tables/mana.cpp hw_tables/mlx4.cpp hw_tables/mlx5.cpp hw_tables/rxe.cpp)
