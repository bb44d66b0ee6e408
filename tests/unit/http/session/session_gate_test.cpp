// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "task/loop_tasks.h"
#include "tests/unit/http/session_fixture.h"
#include "web/auth/gate.h"

// What a session does with requests that have to pass a gate.
namespace rdma_exporter::http {
namespace {

const std::string kAlice = "Authorization: Basic YWxpY2U6c2VjcmV0\r\n";   // alice:secret
const std::string kWrong = "Authorization: Basic YWxpY2U6Z3Vlc3M=\r\n";   // alice:guess
const std::string kNobody = "Authorization: Basic Ym9iOnNlY3JldA==\r\n";  // bob:secret
constexpr std::string_view kAsk = "WWW-Authenticate: Basic realm=\"rdma_exporter\", charset=\"UTF-8\"\r\n";
const std::string kHealthy = plain("200 OK", "healthy\n");
const std::string kDenied = plain("401 Unauthorized", "wrong user name or password\n", kAsk);

std::string request(const std::string& header, const std::string& target = "/-/healthy") {
  return "GET " + target + " HTTP/1.1\r\nHost: h\r\n" + header + "\r\n";
}

class HttpSessionGate : public testing::Test, protected SessionFixture {
 protected:
  HttpSessionGate() {
    context->access = gate_ = std::make_shared<web::Gate>(std::make_shared<web::PasswordCheck>(
        [this](task::LoopTasks::Job job) {
          if (queue_full) return false;
          jobs.push_back(std::move(job));
          return true;
        },
        [](const std::string& password, const std::string& hash) { return password == hash; }));
  }
  void use(web::Policy policy) { gate_->use(std::make_shared<const web::Policy>(std::move(policy))); }
  void need_passwords() {
    web::Policy policy;
    policy.users = {{"alice", "secret"}};
    use(std::move(policy));
  }
  std::string exchange_and_hash(const std::string& bytes) {
    send(bytes);
    while (!jobs.empty()) std::exchange(jobs, {}).at(0)()();
    return received();
  }
  std::string reasons() const {
    std::string text;
    counters.for_each_refused_request([&](std::string_view reason, std::uint64_t n) {
      if (n > 0) text.append(reason) += "=" + std::to_string(n) + " ";
    });
    return text;
  }

  bool queue_full = false;
  std::vector<task::LoopTasks::Job> jobs;

 private:
  std::shared_ptr<web::Gate> gate_;
};

TEST_F(HttpSessionGate, IsOpenWithoutUsers) {
  start();
  EXPECT_EQ(exchange(request("")), kHealthy);
  EXPECT_EQ(exchange(request(kWrong)), kHealthy);
}

TEST_F(HttpSessionGate, AsksForAPasswordWhateverIsAskedFor) {
  need_passwords();
  start();
  const std::string ask = plain("401 Unauthorized", "a user name and a password are needed\n", kAsk);
  for (const char* path : {"/metrics", "/", "/-/healthy", "/-/ready", "/nothing"})
    EXPECT_EQ(exchange(request("", path)), ask) << path;
  EXPECT_EQ(exchange("POST /metrics HTTP/1.1\r\nHost: h\r\n\r\n"), ask);
  EXPECT_EQ(reasons(), "no_credentials=6 ");
  EXPECT_TRUE(source.deadlines.empty()) << "no device was read for it";
}

TEST_F(HttpSessionGate, LetsTheRightPasswordInAndNoOther) {
  need_passwords();
  start();
  EXPECT_EQ(exchange_and_hash(request(kAlice)), kHealthy);
  EXPECT_EQ(exchange_and_hash(request(kWrong)), kDenied);
  EXPECT_EQ(exchange_and_hash(request(kNobody)), kDenied) << "the same words for a user that does not exist";
  EXPECT_EQ(exchange(request("Authorization: Bearer x\r\n")), kDenied);
  EXPECT_EQ(exchange(request(kAlice)), kHealthy) << "remembered";
  EXPECT_EQ(reasons(), "wrong_credentials=3 ");
}

TEST_F(HttpSessionGate, TakesTheFirstOfTwoPasswords) {
  need_passwords();
  start();
  EXPECT_EQ(exchange_and_hash(request(kWrong + kAlice)), kDenied);
}

TEST_F(HttpSessionGate, DoesNotTakeThePasswordOfOneRequestForTheNext) {
  need_passwords();
  start();
  EXPECT_EQ(exchange_and_hash(request(kAlice)), kHealthy);
  EXPECT_EQ(exchange(request("")),
            plain("401 Unauthorized", "a user name and a password are needed\n", kAsk));
}

TEST_F(HttpSessionGate, AnswersPipelinedRequestsInOrderWhileAPasswordIsChecked) {
  need_passwords();
  start();
  send(request(kAlice) + request(kAlice, "/nothing"));
  EXPECT_EQ(received(), "");
  EXPECT_EQ(exchange_and_hash(""),
            kHealthy + plain("404 Not Found", "not found; the metrics are at /metrics\n"));
}

TEST_F(HttpSessionGate, SurvivesAClientThatLeavesWhileItsPasswordIsChecked) {
  need_passwords();
  start();
  send(request(kAlice));
  lose_client();
  stop();
  for (auto& job : std::exchange(jobs, {})) job()();
  run();
  EXPECT_FALSE(session_exists());
}

TEST_F(HttpSessionGate, SaysSoWhenTooManyPasswordsWait) {
  need_passwords();
  queue_full = true;
  start();
  EXPECT_EQ(exchange(request(kAlice)),
            plain("503 Service Unavailable", "too many passwords are being checked\n", "Retry-After: 1\r\n"));
  EXPECT_EQ(reasons(), "password_queue=1 ");
}

TEST_F(HttpSessionGate, LimitsTheRate) {
  web::Policy policy;
  policy.rate_limit = config::RateLimit{std::chrono::hours(1), 2};
  use(policy);
  start();
  EXPECT_EQ(exchange(request("")), kHealthy);
  EXPECT_EQ(exchange(request("")), kHealthy);
  const std::string limited = plain("429 Too Many Requests", "too many requests\n", "Retry-After: 1\r\n");
  EXPECT_EQ(exchange(request("")), limited);
  use(policy);
  EXPECT_EQ(exchange(request("")), limited) << "reading the file again gives nothing away";
  EXPECT_EQ(reasons(), "rate_limit=2 ");
}

TEST_F(HttpSessionGate, SendsConfiguredHeadersWithEveryResponseAndOnceEach) {
  web::Policy policy;
  policy.headers = "X-Frame-Options: deny\r\nX-Content-Type-Options: nosniff\r\n";
  use(policy);
  start();
  EXPECT_EQ(exchange(request("")), plain("200 OK", "healthy\n", policy.headers));
  EXPECT_EQ(
      exchange(request("", "/")),
      "HTTP/1.1 200 OK\r\n" + std::string(kDate) +
          "Content-Type: text/html; charset=utf-8\r\nContent-Length: 27\r\n"
          "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'\r\n"
          "Cache-Control: no-store\r\n"
          "X-Frame-Options: deny\r\nX-Content-Type-Options: nosniff\r\n\r\n<html>rdma_exporter</html>\n");
  EXPECT_EQ(exchange("nonsense\r\n\r\n"),
            plain("400 Bad Request", "Bad Request\n", policy.headers + "Connection: close\r\n"));
}

}  // namespace
}  // namespace rdma_exporter::http
