// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/system/signals.h"

#include <csignal>
#include <initializer_list>

namespace rdma_exporter::app {
namespace {

void mask_hangup(int how) {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGHUP);
  ::pthread_sigmask(how, &set, nullptr);
}

}  // namespace

void hold_signals() {
  for (const int signal : {SIGPIPE, SIGUSR1, SIGUSR2}) std::signal(signal, SIG_IGN);
  mask_hangup(SIG_BLOCK);
}

void let_hangup_through() { mask_hangup(SIG_UNBLOCK); }

}  // namespace rdma_exporter::app
