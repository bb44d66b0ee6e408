// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// How rules that give old names are written: docs/MIGRATION.md.
{
  // The series of a family that have these labels, without them: an old family that has no such label.
  of(family, labels)::
    local names = std.objectFields(labels);
    'sum without (%s) (rdma_%s{%s})' % [
      std.join(', ', names),
      family,
      std.join(',', ['%s="%s"' % [name, labels[name]] for name in names]),
    ],
}
