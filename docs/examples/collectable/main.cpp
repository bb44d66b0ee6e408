// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// A daemon that serves metrics of its own by prometheus-cpp, and those of the RDMA devices beside them:
//   example 127.0.0.1:9410 [FLAG...]     flags as the exporter's: --replay=FILE, --no-collector.resource
// Ends when its standard input does.
#include <prometheus/counter.h>
#include <prometheus/exposer.h>
#include <prometheus/registry.h>
#include <rdma_exporter/collectable.h>

#include <exception>
#include <iostream>
#include <limits>
#include <memory>

int main(int argc, char** argv) try {
  if (argc < 2) throw std::invalid_argument("usage: example ADDRESS [FLAG...]");
  prometheus::Exposer exposer(argv[1]);

  auto own = std::make_shared<prometheus::Registry>();
  prometheus::BuildCounter().Name("example_starts_total").Help("Starts.").Register(*own).Add({}).Increment();
  exposer.RegisterCollectable(own);

  auto rdma = std::make_shared<rdma_exporter::Collectable>(
      rdma_exporter::CollectableOptions{.flags = {argv + 2, argv + argc}});
  exposer.RegisterCollectable(rdma);

  std::cout << exposer.GetListeningPorts().front() << std::endl;
  std::cin.ignore(std::numeric_limits<std::streamsize>::max());
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
