// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

#include "http/server.h"
#include "tests/unit/http/blocking_client.h"
#include "tests/unit/web/fake_source.h"
#include "web/policy/security.h"
#include "web/routes.h"

// The server on real sockets of the loopback interface.
namespace rdma_exporter::http {

/// A server with its event loop on a thread of its own; everything of the server is called there.
class HttpServer : public testing::Test {
 protected:
  ~HttpServer() override {
    if (thread_.joinable()) {
      call([this] {
        server_.reset();
        security_.reset();
      });
      io_.stop();
      thread_.join();
    }
  }

  void serve(std::string address = "127.0.0.1:0") {
    options.listen_addresses = {std::move(address)};
    security_ = std::make_unique<web::Security>(io_, web_config_file, options.max_connections, counters);
    ASSERT_TRUE(security_->load().has_value());
    server_ = std::make_unique<Server>(io_, options, routes, counters, security_->access());
    const auto listening = server_->listen();
    ASSERT_TRUE(listening.has_value()) << core::to_string(listening.error());
    const std::string bound = server_->bound_addresses().at(0);
    port = static_cast<std::uint16_t>(std::stoi(bound.substr(bound.rfind(':') + 1)));
    thread_ = std::thread([this] {
      auto work = asio::make_work_guard(io_);
      io_.run();
    });
  }

  /// Runs `function` on the thread of the server and waits for it.
  template <typename Function>
  std::invoke_result_t<Function> call(Function function) {
    auto task = std::make_shared<std::packaged_task<std::invoke_result_t<Function>()>>(std::move(function));
    auto result = task->get_future();
    asio::post(io_, [task] { (*task)(); });
    return result.get();
  }
  unsigned open_connections() {
    return call([this] { return server_->open_connections(); });
  }
  void stop() {
    call([this] { server_->stop(); });
  }
  core::Result<void> reconfigure() {
    return call([this] { return server_->reconfigure(options); });
  }
  std::vector<std::string> bound() {
    return call([this] { return server_->bound_addresses(); });
  }
  std::uint64_t refused(std::string_view wanted) {
    std::uint64_t result = 0;
    counters.for_each_refusal(
        [&](std::string_view reason, std::uint64_t n) { result += reason == wanted ? n : 0; });
    return result;
  }
  /// True when `condition` becomes true within a generous time.
  template <typename Condition>
  static bool soon(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(5000);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
  }

  web::FakeSource source;
  web::Routes routes{source, {}};
  HttpCounters counters;
  ServerOptions options;
  std::string web_config_file;
  std::uint16_t port = 0;

 private:
  asio::io_context io_;
  std::unique_ptr<web::Security> security_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
};

inline constexpr std::string_view kRequest = "GET /-/healthy HTTP/1.1\r\nHost: h\r\n\r\n";
inline constexpr std::string_view kResponse =
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 8\r\n\r\nhealthy\n";
inline constexpr std::size_t kResponseSize = kResponse.size() + 37;  // with its Date

}  // namespace rdma_exporter::http
