// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Creates queue pairs in a given state and holds them until its standard input ends. perftest and rping
// cannot show a queue pair in error on Soft-RoCE: they use a retry count of 7, which rxe treats as infinite.
//
//   qpactor [-n QPS] [-m BYTES] [-t rc|uc|ud] [-g GID_INDEX] DEVICE STATE
//
// STATE: reset, init, rtr, rts, sqd, err
//        retry   one send to a queue pair that does not exist, one retry: ends in ERR
//        peer    prints "QPN GID"; reads the peer's "QPN GID" from standard input, connects, and answers
//        write   as peer, and writes to the peer (0 bytes) twenty times a second until that fails
//        rnr     as peer, and sends to a peer that posted no receive: ends in ERR
//        badkey  as peer, and writes to memory that is not the peer's: ends in ERR, on both sides
// Prints "ready" when that is reached, and "failed STATUS" (enum ibv_wc_status) when a work request has
// failed.
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr int kPort = 1;
constexpr std::uint32_t kNobody = 0xFFFFF0;  // no queue pair of rxe has this number

struct Options {
  unsigned qps = 1;
  std::size_t bytes = 4096;  // of the memory region, 8 at least
  ibv_qp_type type = IBV_QPT_RC;
  std::uint8_t gid_index = 1;
  std::string device;
  std::string state;
};

[[noreturn]] void fail(const char* what, int error = errno) {
  std::fprintf(stderr, "qpactor: %s: %s\n", what, std::strerror(error));
  std::exit(1);
}

void check(const char* what, int error) {
  if (error != 0) fail(what, error);
}

template <typename T>
T* check(const char* what, T* made) {
  if (made == nullptr) fail(what);
  return made;
}

ibv_context* open_device(const std::string& name) {
  int count = 0;
  ibv_device** list = check("ibv_get_device_list", ibv_get_device_list(&count));
  for (int i = 0; i < count; ++i)
    if (name == ibv_get_device_name(list[i])) return check("ibv_open_device", ibv_open_device(list[i]));
  fail(name.c_str(), ENODEV);
}

struct Peer {
  std::uint32_t qpn;
  ibv_gid gid;
};

void to_init(ibv_qp* qp) {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = kPort;
  attr.qkey = 0x1234;
  attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
  const int extra = qp->qp_type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
  check("INIT", ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | extra));
}

void to_rtr(ibv_qp* qp, const Peer& peer, std::uint8_t gid_index) {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = IBV_MTU_1024;
  attr.dest_qp_num = peer.qpn;
  attr.max_dest_rd_atomic = 1;
  attr.min_rnr_timer = 1;
  attr.ah_attr.is_global = 1;
  attr.ah_attr.port_num = kPort;
  attr.ah_attr.grh.dgid = peer.gid;
  attr.ah_attr.grh.sgid_index = gid_index;
  attr.ah_attr.grh.hop_limit = 1;
  int mask = IBV_QP_STATE;
  if (qp->qp_type != IBV_QPT_UD) mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  if (qp->qp_type == IBV_QPT_RC) mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  check("RTR", ibv_modify_qp(qp, &attr, mask));
}

void to_rts(ibv_qp* qp) {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTS;
  attr.timeout = 10;  // 4 ms
  attr.retry_cnt = 1;
  attr.rnr_retry = 1;
  attr.max_rd_atomic = 1;
  int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
  if (qp->qp_type == IBV_QPT_RC)
    mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  check("RTS", ibv_modify_qp(qp, &attr, mask));
}

void to_state(ibv_qp* qp, ibv_qp_state state) {
  ibv_qp_attr attr{};
  attr.qp_state = state;
  check("modify", ibv_modify_qp(qp, &attr, IBV_QP_STATE));
}

void bring_to(ibv_qp* qp, const std::string& state, const Peer& peer, std::uint8_t gid_index) {
  if (state == "reset") return;
  to_init(qp);
  if (state == "init") return;
  if (state == "err") return to_state(qp, IBV_QPS_ERR);
  to_rtr(qp, peer, gid_index);
  if (state == "rtr") return;
  to_rts(qp);
  if (state == "sqd") to_state(qp, IBV_QPS_SQD);
}

// Posts one request of no bytes (badkey: of 8) and waits for it; its status.
int work(ibv_qp* qp, ibv_cq* cq, const std::string& kind, ibv_mr* mr) {
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(mr->addr), 8, mr->lkey};
  ibv_send_wr request{};
  request.send_flags = IBV_SEND_SIGNALED;
  request.opcode = kind == "write" || kind == "badkey" ? IBV_WR_RDMA_WRITE : IBV_WR_SEND;
  if (kind == "badkey") {
    request.sg_list = &sge;
    request.num_sge = 1;
    request.wr.rdma.remote_addr = 0x1000;
    request.wr.rdma.rkey = 0xdead;
  }
  ibv_send_wr* bad = nullptr;
  check("ibv_post_send", ibv_post_send(qp, &request, &bad));
  ibv_wc done{};
  while (ibv_poll_cq(cq, 1, &done) == 0) ::usleep(1000);
  return done.status;
}

Peer exchange(ibv_qp* qp, const ibv_gid& own) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET6, own.raw, text.data(), text.size());
  std::printf("%u %s\n", qp->qp_num, text.data());
  std::fflush(stdout);
  Peer peer{};
  std::array<char, 64> address{};
  if (std::scanf("%u %63s", &peer.qpn, address.data()) != 2) fail("no peer on standard input", EINVAL);
  if (::inet_pton(AF_INET6, address.data(), peer.gid.raw) != 1) fail("peer's GID", EINVAL);
  return peer;
}

Options parse(int argc, char** argv) {
  Options options;
  for (int option = 0; (option = ::getopt(argc, argv, "n:m:t:g:")) != -1;) {
    const std::string_view value = optarg != nullptr ? optarg : "";
    if (option == 'n') options.qps = static_cast<unsigned>(std::atoi(optarg));
    if (option == 'm') options.bytes = static_cast<std::size_t>(std::atoll(optarg));
    if (option == 'g') options.gid_index = static_cast<std::uint8_t>(std::atoi(optarg));
    if (option == 't') options.type = value == "ud" ? IBV_QPT_UD : value == "uc" ? IBV_QPT_UC : IBV_QPT_RC;
  }
  if (argc - optind != 2)
    fail("usage: qpactor [-n QPS] [-m BYTES] [-t rc|uc|ud] [-g GID_INDEX] DEVICE STATE", EINVAL);
  options.device = argv[optind];
  options.state = argv[optind + 1];
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  const bool connects = options.state == "peer" || options.state == "write" || options.state == "rnr" ||
                        options.state == "badkey";
  ibv_context* context = open_device(options.device);
  ibv_pd* pd = check("ibv_alloc_pd", ibv_alloc_pd(context));
  ibv_cq* cq = check("ibv_create_cq", ibv_create_cq(context, 64, nullptr, nullptr, 0));
  std::vector<char> memory(options.bytes);
  ibv_mr* mr = check("ibv_reg_mr", ibv_reg_mr(pd, memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE));
  ibv_gid gid{};
  check("ibv_query_gid", ibv_query_gid(context, kPort, options.gid_index, &gid));

  ibv_qp* qp = nullptr;
  for (unsigned i = 0; i < options.qps; ++i) {
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = cq;
    init.cap = {
        .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
    init.qp_type = options.type;
    qp = check("ibv_create_qp", ibv_create_qp(pd, &init));
    const Peer peer = connects ? exchange(qp, gid) : Peer{kNobody, gid};
    bring_to(qp, options.state, peer, options.gid_index);
  }
  if (options.state == "retry") std::printf("failed %d\n", work(qp, cq, "send", mr));
  std::puts("ready");
  std::fflush(stdout);
  if (options.state == "write" || options.state == "rnr" || options.state == "badkey") {
    int status = 0;
    while ((status = work(qp, cq, options.state, mr)) == IBV_WC_SUCCESS) ::usleep(50'000);
    std::printf("failed %d\n", status);
    std::fflush(stdout);
  }
  while (std::getchar() != EOF) {
  }
  return 0;
}
