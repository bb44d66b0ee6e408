// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// What both a recording rule and a panel compute: once, so that the panel shows what the alert goes by. Panels do not read the
// recorded series, because the rules may not be loaded, and because their window follows the zoom.
{
  // Share of wrong bits before error correction, of all that came over the line; too low where blocks are beyond repair.
  // Where the code is not known, the speed stands for the rate of the line. `matchers` is what stands in the braces.
  bitErrorRatio(window, matchers='')::
    local braces = if matchers == '' then '' else '{' + matchers + '}';
    |||
      rate(rdma_netdev_fec_corrected_bit_errors_total%(in)s[%(window)s]) / (rdma_netdev_fec_line_bytes_per_second%(in)s * 8)
      or rate(rdma_netdev_fec_corrected_bit_errors_total%(in)s[%(window)s]) / (rdma_netdev_speed_bytes_per_second%(in)s * 8)
    ||| % { 'in': braces, window: window },
}
