// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/session/prober.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "probe/mesh/flow_label.h"
#include "probe/mesh/stable_hash.h"

namespace rdma_exporter::probe {
namespace {

// Prefers the adapter's own clock: such a read contains no time of this host.
Session::Settings session_settings(const SessionOptions& options, bool iwarp, bool has_clock) {
  Session::Settings settings;
  settings.one_sided.clear();
  for (const Op op : options.operations_on(iwarp))
    if (op != Op::echo) settings.one_sided.push_back(op);
  if (has_clock) std::sort(settings.one_sided.begin(), settings.one_sided.end(), std::greater<>());
  settings.echo = options.has(Op::echo);
  settings.timing = options.timing;
  return settings;
}

DialerOptions dialer_options(const ProberSpec& spec) {
  DialerOptions options;
  options.address = spec.key.target.address;
  options.port = spec.key.target.port;
  options.device = spec.key.target.device;
  options.rail = spec.device;
  options.place = spec.place;
  options.cluster = spec.options.cluster;
  options.host = spec.options.host;
  options.tls = spec.tls;
  options.pair.port = spec.key.port;
  options.pair.echo = spec.options.has(Op::echo);
  options.pair.transport = spec.options.transport;
  if (const auto source = gid_of_address(spec.key.target.source)) options.pair.gid.exact = *source;
  options.path.traffic_class = static_cast<std::uint8_t>(spec.options.traffic_class.value_or(kTrafficClass));
  options.path.service_level = static_cast<std::uint8_t>(spec.options.service_level);
  options.path.timing = spec.options.timing;
  options.flow = spec.key.flow;
  return options;
}

// The phase of a prober: spread over hosts, targets and flows, and the same after a restart.
double phase(const ProberSpec& spec) {
  const std::string name = spec.options.host + "/" + spec.device + "/" + std::to_string(spec.key.port) + "/" +
                           spec.key.target.name + "/" + std::to_string(spec.key.flow);
  return static_cast<double>(stable_hash(name) >> 11U) * 0x1p-53;
}

unsigned mtu_bytes(std::uint8_t mtu) { return mtu == 0 ? 0U : 128U << mtu; }

void earliest(std::optional<Clock::time_point>& next, std::optional<Clock::time_point> other) {
  if (other && (!next || *other < *next)) next = other;
}

}  // namespace

Prober::Prober(DeviceLoop& loop, Workers& workers, asio::io_context& io, std::shared_ptr<QpPairs> near,
               ProberSpec spec, const Random& random, std::function<void()> changed)
    : spec_(std::move(spec)),
      random_(random),
      dialer_(io, dialer_options(spec_), std::move(near)),
      endpoint_(loop, workers, dialer_),
      session_(session_settings(spec_.options, loop.device()->iwarp(), loop.has_clock()), endpoint_,
               *spec_.stats, random) {
  endpoint_.serve(session_, std::move(changed));
  const Clock::time_point now = Clock::now();
  if (session_.one_sided()) one_sided_.emplace(spec_.options.interval, phase(spec_), now);
  if (spec_.options.has(Op::echo)) echo_.emplace(spec_.options.echo_interval, phase(spec_), now);
}

Prober::~Prober() { session_.stop(); }

double Prober::rate(const SessionOptions& options) {
  // A one-sided probe is two operations, of which the first warms up the path.
  double rate = !options.one_sided() ? 0.0 : 2000.0 / static_cast<double>(options.interval.count());
  if (options.has(Op::echo)) rate += 1000.0 / static_cast<double>(options.echo_interval.count());
  return rate;
}

std::optional<Clock::time_point> Prober::advance(Clock::time_point now, double stretch,
                                                 task::TokenBucket& connects) {
  // The one-sided operation first, the echo when it has ended: each would add to the other's time.
  if (one_sided_ && one_sided_->due(now, stretch, random_))
    session_.tick_one_sided(now);
  else if (echo_ && echo_->due(now, stretch, random_))
    session_.tick_echo(now);
  std::optional<Clock::time_point> next;
  const auto due = session_.next_step();
  const bool connecting = session_.state() != Session::State::up;
  if (connecting && due && *due <= now && !connects.take(now)) {
    next = connects.next();
  } else {
    if (connecting && due && *due <= now) spec_.stats->count_connect();
    session_.step(now);
    next = session_.next_step();
  }
  if (one_sided_) earliest(next, one_sided_->next());
  if (echo_) earliest(next, echo_->next());
  publish();
  return next;
}

void Prober::on_event(const DeviceEvent& event, Clock::time_point now) {
  using Kind = DeviceEvent::Kind;
  if (event.kind != Kind::fatal && event.port != 0 && event.port != spec_.key.port) return;
  if (event.kind == Kind::fatal)
    session_.disturbed(now, {Stage::local, "device_fatal"});
  else if (event.kind == Kind::lid)
    session_.readdressed(now);
  else if (event.kind == Kind::port_up || event.kind == Kind::address)
    session_.hurry(now);
  publish();
}

void Prober::publish() {
  if (published_ == session_.state()) return;
  published_ = session_.state();
  std::optional<SessionFacts> known;
  if (*published_ == Session::State::up) {
    known = facts();
    spec_.stats->connected(endpoint_.connection().times);
  }
  spec_.stats->set_session(*published_, std::move(known));
}

SessionFacts Prober::facts() const {
  const Connection& connection = endpoint_.connection();
  SessionFacts facts;
  if (!connection.pair) return facts;
  if (connection.pair->local.link != LinkLayer::iwarp)  // TCP splits data as it likes
    facts.path_mtu = mtu_bytes(std::min(connection.pair->local.mtu, connection.peer.mtu));
  if (connection.pair->local.link == LinkLayer::ethernet)
    facts.udp_source_port = udp_source_port(connection.flow_label);
  facts.local_address = address_text(connection.pair->local.gid);
  facts.peer_address = address_text(connection.peer.gid);
  facts.peer_device = connection.peer_device;
  facts.op = session_.one_sided().value_or(Op::echo);
  facts.transport = connection.pair->transport;
  facts.clock = connection.pair->clock();
  return facts;
}

}  // namespace rdma_exporter::probe
