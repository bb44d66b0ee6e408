# The tables of what kernel counters are exported as. Included by collectors/CMakeLists.txt.
set(COUNTER_TABLE_SOURCES
  gauge_names.cpp hw_table.cpp pma_table.cpp port_families.cpp
  hw_tables/bnxt_re.cpp hw_tables/cxgb4.cpp hw_tables/efa.cpp hw_tables/erdma.cpp hw_tables/hfi1.cpp hw_tables/hns.cpp
  hw_tables/irdma.cpp hw_tables/mana.cpp hw_tables/mlx4.cpp hw_tables/mlx5.cpp hw_tables/rxe.cpp
  ethtool_families.cpp ethtool_table.cpp
  ethtool_tables/bnxt.cpp ethtool_tables/cxgb4.cpp ethtool_tables/ena.cpp ethtool_tables/hns3.cpp ethtool_tables/i40e.cpp
  ethtool_tables/ice.cpp ethtool_tables/ionic.cpp ethtool_tables/mana.cpp ethtool_tables/mlx4.cpp ethtool_tables/mlx5.cpp
  ethtool_tables/qede.cpp)
