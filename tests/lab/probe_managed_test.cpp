// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "tests/lab/probe_verbs_fixture.h"

namespace rdma_exporter::probe {
namespace {

// Two ends, and where the far one's connection manager waits.
class ProbeManaged : public ProbeVerbs {
 protected:
  std::shared_ptr<QpPair> make(DeviceLoop& loop, bool responder) {
    QpPairRequest request;
    request.responder = responder;
    request.remote = kGrantWrite;
    request.transport = TransportChoice::rdma_cm;
    request.gid.exact = *gid_of_address(responder ? "10.9.0.2" : "10.9.0.1");
    auto made = make_qp_pair(loop, request);
    if (!made) throw std::runtime_error(core::to_string(made.error().error));
    return *made;
  }

  probe::SetUp<void> call(const CmAddress& address, std::chrono::milliseconds time = 30s) {
    return cm_connect_pair(*make(*here, false), *here->device(), far->local, address, {}, time);
  }

  std::shared_ptr<QpPair> far = make(*there, true);
  std::shared_ptr<CmListener> listener = CmListener::open(far, *there->device(), {}).value();
};

TEST_F(ProbeManaged, TakesOnlyWhoHasTheWordAndOnlyOnce) {
  const Answering answering(*listener);
  CmAddress wrong = listener->cm_address();
  wrong.token.back() ^= 1;
  const auto refused = call(wrong);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().failure(), (Failure{Stage::modify, "ECONNREFUSED"}));
  EXPECT_FALSE(listener->done()) << "it still waits";
  EXPECT_TRUE(call(listener->cm_address()));
  const auto again = call(listener->cm_address());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().failure(), (Failure{Stage::modify, "ECONNREFUSED"}));
}

TEST_F(ProbeManaged, GivesUpByItsOwnClock) {
  const Netem deaf("ve0", "loss 100%");
  const Clock::time_point start = Clock::now();
  const auto failed = call(listener->cm_address(), 500ms);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().failure(), (Failure{Stage::modify, "ETIMEDOUT"}));
  EXPECT_GE(Clock::now() - start, 500ms);
  EXPECT_LT(Clock::now() - start, 30s) << "the kernel's own time is beyond 100 s";
}

// What stands in for GIDs on iWARP, whose devices the suite probe-iwarp has.
TEST_F(ProbeManaged, FindsTheAddressesOfADevice) {
  EXPECT_EQ(managed_addresses(*here->device(), 1).value(), std::vector<Gid>{*gid_of_address("10.9.0.1")});
  EXPECT_EQ(managed_addresses(*there->device(), 1).value(), std::vector<Gid>{*gid_of_address("10.9.0.2")});
}

}  // namespace
}  // namespace rdma_exporter::probe
