// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/rdma/cm/cm_connect.h"

#include <openssl/crypto.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace rdma_exporter::probe {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr unsigned kBacklog = 4;
constexpr unsigned kMaxAtOnce = 16;  // strangers can send requests, too

// Content of a request: the token, and which of the end's queue pairs it is for.
constexpr std::uint8_t kOneSided = 1;
constexpr std::uint8_t kEcho = 2;
constexpr std::size_t kWord = std::tuple_size_v<decltype(CmAddress::token)>;
using Introduction = std::array<std::uint8_t, kWord + 1>;

Introduction introduction(const CmAddress& cm_address, std::uint8_t which) {
  Introduction said{};
  std::copy(cm_address.token.begin(), cm_address.token.end(), said.begin());
  said.back() = which;
  return said;
}

tl::unexpected<SetUpError> failed(const core::Error& error) {
  return tl::unexpected(SetUpError{Stage::modify, error});
}
tl::unexpected<SetUpError> failed(int os_errno, const char* context) {
  return failed(core::Error{core::Errc::os, os_errno, context});
}

core::Result<void> check_place(const QpPair& pair, CmChannel::Id id, const VerbsDevice& device) {
  const auto place = pair.cm->place(id);
  if (!place) return tl::unexpected(place.error());
  if (!is_on(*place, device, pair.port))
    return core::os_error(ENODEV, "rdma_cm: " + address_text(pair.local.gid) + " is another device's");
  return {};
}

// Connects one queue pair of the prober.
class Caller {
 public:
  Caller(QpPair& pair, const VerbsDevice& device, const QpPairAddress& peer, std::uint16_t port,
         steady_clock::time_point deadline)
      : pair_(pair), cm_(*pair.cm), device_(device), peer_(peer), port_(port), deadline_(deadline) {}

  core::Result<void> call(VerbsQp& qp, const Introduction& said, const PathSettings& path) {
    const auto id = cm_.create();
    if (!id) return tl::unexpected(id.error());
    id_ = *id;
    if (auto found = find(); !found) return found;
    if (auto begun = cm_.connect(id_, qp.numbers().number, said); !begun) return begun;
    const auto answer = cm_.wait(id_, deadline_);
    if (!answer) return tl::unexpected(answer.error());
    if (answer->kind == CmEvent::Kind::established) return {};  // iWARP has moved the queue pair
    if (answer->kind != CmEvent::Kind::response) return core::os_error(EPROTO, "rdma_cm");
    if (auto moved = qp.connect_managed(cm_, id_, path); !moved) return moved;
    return cm_.establish(id_);
  }

 private:
  core::Result<void> find() {
    if (auto begun = cm_.resolve_address(id_, pair_.local.gid, peer_.gid, pair_.netdev, port_, left());
        !begun)
      return begun;
    if (const auto known = cm_.wait(id_, deadline_); !known) return tl::unexpected(known.error());
    if (auto begun = cm_.resolve_route(id_, left()); !begun) return begun;
    if (const auto known = cm_.wait(id_, deadline_); !known) return tl::unexpected(known.error());
    return check_place(pair_, id_, device_);
  }

  milliseconds left() const {
    const auto left = std::chrono::duration_cast<milliseconds>(deadline_ - steady_clock::now());
    return std::max(left, milliseconds(1));
  }

  QpPair& pair_;
  CmChannel& cm_;
  const VerbsDevice& device_;
  const QpPairAddress& peer_;
  std::uint16_t port_;
  steady_clock::time_point deadline_;
  CmChannel::Id id_ = 0;
};

}  // namespace

SetUp<void> cm_connect_pair(QpPair& pair, const VerbsDevice& device, const QpPairAddress& peer,
                            const CmAddress& cm_address, const PathSettings& path, milliseconds time) {
  auto channel = CmChannel::open();
  if (!channel) return tl::unexpected(SetUpError{Stage::local, channel.error()});
  pair.cm = std::move(*channel);
  Caller caller(pair, device, peer, cm_address.port, steady_clock::now() + time);
  for (const auto& [qp, which] :
       {std::pair(pair.one_sided.get(), kOneSided), std::pair(pair.echo.get(), kEcho)}) {
    if (qp == nullptr) continue;
    if (const auto connected = caller.call(*qp, introduction(cm_address, which), path); !connected)
      return failed(connected.error());
  }
  return {};
}

SetUp<std::shared_ptr<CmListener>> CmListener::open(std::shared_ptr<QpPair> pair, const VerbsDevice& device,
                                                    const PathSettings& path) {
  auto channel = CmChannel::open();
  if (!channel) return tl::unexpected(SetUpError{Stage::local, channel.error()});
  pair->cm = std::move(*channel);
  std::shared_ptr<CmListener> made(new CmListener(std::move(pair), path));
  CmChannel& cm = *made->pair_->cm;
  const QpPairAddress& local = made->pair_->local;
  std::array<std::uint8_t, kWord>& token = made->cm_address_.token;
  if (::getrandom(token.data(), token.size(), 0) != static_cast<ssize_t>(token.size()))
    return failed(errno, "getrandom");
  const auto id = cm.create();
  if (!id) return failed(id.error());
  made->id_ = *id;
  if (const auto bound = cm.bind(*id, local.gid, made->pair_->netdev, 0); !bound)
    return failed(bound.error());
  if (const auto right = check_place(*made->pair_, *id, device); !right) return failed(right.error());
  const auto place = cm.place(*id);
  if (!place) return failed(place.error());
  made->cm_address_.port = place->port;
  for (VerbsQp* qp : {made->pair_->one_sided.get(), made->pair_->echo.get()})
    if (qp != nullptr) made->waiting_.push_back(qp);
  if (const auto listening = cm.listen(*id, kBacklog); !listening) return failed(listening.error());
  return made;
}

void CmListener::answer() {
  for (unsigned i = 0; i < kMaxAtOnce && !done(); ++i) {
    const auto event = pair_->cm->next_event();
    if (!event) return;
    if (event->kind != CmEvent::Kind::request || admit(*event)) continue;
    pair_->cm->reject(event->id);
    pair_->cm->destroy(event->id);
  }
  if (done()) close();
}

bool CmListener::admit(const CmEvent& request) {
  for (const auto& [qp, which] :
       {std::pair(pair_->one_sided.get(), kOneSided), std::pair(pair_->echo.get(), kEcho)}) {
    const auto wanted = std::find(waiting_.begin(), waiting_.end(), qp);
    if (wanted == waiting_.end()) continue;
    const Introduction expected = introduction(cm_address_, which);
    if (request.private_data.size() < expected.size() ||
        CRYPTO_memcmp(request.private_data.data(), expected.data(), expected.size()) != 0)
      continue;
    waiting_.erase(wanted);  // once, whether it succeeds or not
    return qp->connect_managed(*pair_->cm, request.id, path_) &&
           pair_->cm->accept(request.id, qp->numbers().number);
  }
  return false;
}

void CmListener::close() {
  waiting_.clear();
  if (const auto id = std::exchange(id_, std::nullopt)) pair_->cm->destroy(*id);
}

}  // namespace rdma_exporter::probe
