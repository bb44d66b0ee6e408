// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/agent/agent.h"

#include <future>
#include <thread>
#include <utility>

#include "probe/agent/control.h"
#include "probe/stats/sessions_json.h"

namespace rdma_exporter::probe {

using namespace std::chrono_literals;

Agent::Agent(PresetClass preset_class) : preset_class_(std::move(preset_class)) {}

Agent::~Agent() { stop(Clock::now() + 1s); }

core::Result<void> Agent::check(const AgentOptions& options) {
  if (!options.wanted()) return {};
  if (auto sources = discovery::check(options.sources); !sources) return sources;
  if (auto timing = probe::check(options.session.timing); !timing) return timing;
  const bool open = options.session.credentials.none() && !options.responder.insecure;
  for (const auto& alternatives : options.responder.listen)
    for (const auto& endpoint : alternatives)
      if (auto refused = check_listen(endpoint, open); options.responder.enabled && !refused) return refused;
  const auto tls = make_tls(options.session.credentials, TlsRole::client);
  return tls ? core::Result<void>() : tl::unexpected(tls.error());
}

core::Result<void> Agent::configure(const AgentOptions& options) {
  if (!control_ && !options.wanted()) return {};
  const bool is_new = !control_;
  if (is_new) control_ = std::make_shared<Control>(registry_, preset_class_);
  auto answer = control_->configure(options);
  if (answer.wait_for(10s) != std::future_status::ready)
    return core::config_error("the probe does not answer");
  const auto result = answer.get();
  if (is_new && !result) stop(Clock::now() + 1s);
  return result;
}

bool Agent::stop(Clock::time_point deadline) {
  if (!control_) return true;
  // On a thread that may be abandoned, because the kernel may hold any of the threads that it waits for.
  auto done = std::make_shared<std::promise<void>>();
  auto ended = done->get_future();
  std::thread([control = std::move(control_), done]() mutable {
    control->shut_down();
    control.reset();
    done->set_value();
  }).detach();
  return ended.wait_until(deadline) == std::future_status::ready;
}

std::function<std::string()> Agent::sessions() const {
  return [registry = registry_] { return sessions_json(registry->contents()); };
}

}  // namespace rdma_exporter::probe
