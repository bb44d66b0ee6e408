// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/setup/probe_options.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/support/temp_tree.h"

namespace rdma_exporter::app {
namespace {

using namespace std::chrono_literals;

probe::AgentOptions options_of(const config::ProbeConfig& config) {
  auto options = probe_options(config);
  EXPECT_TRUE(options) << options.error().context.text();
  return options.value_or(probe::AgentOptions());
}

// Each setting another number, so that none can stand for another.
TEST(AppProbeOptions, PassOnWhatIsConfigured) {
  config::ProbeConfig config;
  config.interval = 11ms;
  config.echo_interval = 12ms;
  config.flows = 13;
  config.traffic_class = 104;
  config.service_level = 5;
  config.timeout = 16;
  config.retry = 2;
  config.cluster = "pod";
  config.cert_file = "cert";
  config.key_file = "key";
  config.ca_file = "ca";
  config.secret_file = "secret";
  config.max_qps = 21;
  config.max_probes_per_second = 22;
  config.max_connects_per_second = 23;
  config.max_cpu_percent = 24;
  config.histogram_targets = 25;
  config.device_include = core::Pattern("mlx5_.*");
  config.hostmesh = true;
  const auto options = options_of(config);
  const probe::SessionOptions& session = options.session;
  EXPECT_EQ(session.interval, 11ms);
  EXPECT_EQ(session.echo_interval, 12ms);
  EXPECT_EQ(session.flows, 13U);
  EXPECT_EQ(session.traffic_class, 104U);
  EXPECT_EQ(session.service_level, 5U);
  EXPECT_EQ(session.timing.timeout, 16U);
  EXPECT_EQ(session.timing.retry, 2U);
  EXPECT_EQ(session.cluster, "pod");
  EXPECT_EQ(session.credentials.certificate_file, "cert");
  EXPECT_EQ(session.credentials.key_file, "key");
  EXPECT_EQ(session.credentials.authority_file, "ca");
  EXPECT_EQ(session.credentials.secret_file, "secret");
  EXPECT_EQ(options.limits, (probe::Limits{21, 22, 23, 24}));
  EXPECT_EQ(options.histogram_targets, 25U);
  EXPECT_EQ(options.device_include.text(), "mlx5_.*");
  EXPECT_TRUE(options.hostmesh);
  EXPECT_TRUE(options.wanted());
  EXPECT_FALSE(options_of({}).wanted());
}

TEST(AppProbeOptions, ListenOnlyForAResponderAndOpenlyOnlyWhenToldTo) {
  config::ProbeConfig config;
  config.listen_addresses = {"127.0.0.1:0", "[::1]:0"};
  EXPECT_TRUE(options_of(config).responder.listen.empty());
  config.responder = true;
  const auto options = options_of(config);
  EXPECT_TRUE(options.responder.enabled);
  EXPECT_FALSE(options.responder.insecure);
  EXPECT_EQ(options.responder.listen.size(), 2U);
  config.insecure = true;
  EXPECT_TRUE(options_of(config).responder.insecure);
  config.listen_addresses = {"no port"};
  EXPECT_FALSE(probe_options(config));
}

TEST(AppProbeOptions, OfAMeshAreTheWholeProbe) {
  config::ProbeConfig config;
  config.listen_addresses = {"127.0.0.1:0"};
  const auto sources_of = [&](const char* mesh) {
    config.mesh = mesh;
    const auto options = options_of(config);
    EXPECT_TRUE(options.wanted());
    EXPECT_TRUE(options.responder.enabled) << "peers probe this host, too";
    EXPECT_EQ(options.responder.listen.size(), 1U);
    EXPECT_TRUE(options.select.mesh);
    return options.sources;
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(sources_of("probe.monitoring.svc").names, Texts{"probe.monitoring.svc"});
  EXPECT_EQ(sources_of("https://cmdb.example/mesh").urls, Texts{"https://cmdb.example/mesh"});
  EXPECT_EQ(sources_of("/etc/rdma_exporter/mesh.json").files, Texts{"/etc/rdma_exporter/mesh.json"});
  EXPECT_EQ(sources_of("mesh.json").files, Texts{"mesh.json"});
  config.mesh.clear();
  EXPECT_FALSE(options_of(config).wanted());
}

TEST(AppProbeOptions, RefuseASecondListBesideTheMesh) {
  config::ProbeConfig config;
  config.mesh = "probe.monitoring.svc";
  config.discovery.urls = {"https://cmdb.example/hosts"};
  const auto options = probe_options(config);
  ASSERT_FALSE(options);
  EXPECT_NE(options.error().context.text().find("--probe.mesh"), std::string::npos)
      << options.error().context.text();
}

TEST(AppProbeOptions, NameATargetByItsAddressUnlessItHasAName) {
  config::ProbeConfig config;
  config::ProbeTarget plain;
  plain.address = "gpu-1";
  config::ProbeTarget full;
  full.address = "gpu-2";
  full.port = 9402;
  full.name = "two";
  full.group = "pod";
  full.device = "mlx5_1";
  full.from = "mlx5_0";
  full.source = "192.0.2.1";
  config.targets = {plain, full};
  const auto targets = options_of(config).targets;
  ASSERT_EQ(targets.size(), 2U);
  EXPECT_EQ(targets[0].name, "gpu-1");
  EXPECT_EQ(targets[1].name, "two");
  EXPECT_EQ(targets[1].address, "gpu-2");
  EXPECT_EQ(targets[1].port, 9402);
  EXPECT_EQ(targets[1].group, "pod");
  EXPECT_EQ(targets[1].device, "mlx5_1");
  EXPECT_EQ(targets[1].from, "mlx5_0");
  EXPECT_EQ(targets[1].source, "192.0.2.1");
}

TEST(AppProbeOptions, TryWritesBeforeReadsWhateverTheOrder) {
  config::ProbeConfig config;
  config.operations = {config::ProbeOperation::echo, config::ProbeOperation::read,
                       config::ProbeOperation::write};
  EXPECT_EQ(options_of(config).session.operations,
            (std::vector{probe::Op::write, probe::Op::read, probe::Op::echo}));
}

TEST(AppPresetClass, IsWhatTheDriverForcesThenWhatRdmaCmPresets) {
  const test::TempTree sysfs;
  const probe::PresetClass preset = preset_class(sysfs.path(""));
  EXPECT_EQ(preset("mlx5_0", 1), std::nullopt);
  sysfs.write("kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos", "0\n");
  EXPECT_EQ(preset("mlx5_0", 1), std::nullopt) << "0 is the kernel's default";
  sysfs.write("kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos", "96\n");
  EXPECT_EQ(preset("mlx5_0", 1), 96U);
  sysfs.write("class/infiniband/mlx5_0/tc/1/traffic_class", "Global tclass=104\n");
  EXPECT_EQ(preset("mlx5_0", 1), 104U);
  EXPECT_EQ(preset("mlx5_0", 2), std::nullopt);
}

}  // namespace
}  // namespace rdma_exporter::app
