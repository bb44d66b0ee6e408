// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <string_view>

#include "config/web/web_file.h"

// The words of a web config file. Those about TLS are Go's, because the format was first implemented in Go.
namespace rdma_exporter::config {

template <typename T>
struct Word {
  std::string_view name;
  T value;
};

inline constexpr Word<TlsVersion> kTlsVersions[] = {{"TLS10", TlsVersion::tls10},
                                                    {"TLS11", TlsVersion::tls11},
                                                    {"TLS12", TlsVersion::tls12},
                                                    {"TLS13", TlsVersion::tls13}};

inline constexpr Word<ClientAuth> kClientAuths[] = {
    {"NoClientCert", ClientAuth::none},
    {"RequestClientCert", ClientAuth::request},
    {"RequireAnyClientCert", ClientAuth::require_any},
    {"RequireClientCert", ClientAuth::require_any},  // an old name for the same
    {"VerifyClientCertIfGiven", ClientAuth::verify_if_given},
    {"RequireAndVerifyClientCert", ClientAuth::require_and_verify},
};

inline constexpr Word<std::string_view> kCurves[] = {
    {"X25519", "X25519"}, {"CurveP256", "P-256"}, {"CurveP384", "P-384"}, {"CurveP521", "P-521"}};

/// What tls.CipherSuites() of Go 1.22 and later returns, so that all readers of the format accept the same
/// list; it has no suites without forward secrecy. The suites of TLS 1.3 can be listed but not chosen: all
/// three are always on, as in Go.
inline constexpr Word<std::string_view> kCipherSuites[] = {
    {"TLS_AES_128_GCM_SHA256", ""},
    {"TLS_AES_256_GCM_SHA384", ""},
    {"TLS_CHACHA20_POLY1305_SHA256", ""},
    {"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256"},
    {"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384"},
    {"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"},
    {"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384"},
    {"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"},
    {"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305"},
    {"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "ECDHE-ECDSA-AES128-SHA"},
    {"TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", "ECDHE-ECDSA-AES256-SHA"},
    {"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "ECDHE-RSA-AES128-SHA"},
    {"TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", "ECDHE-RSA-AES256-SHA"},
};

/// A header that may be set, and the values it may have (empty: any).
struct HeaderRule {
  std::string_view name;
  std::array<std::string_view, 2> values;
};

inline constexpr HeaderRule kHeaders[] = {{"Content-Security-Policy", {}},
                                          {"Strict-Transport-Security", {}},
                                          {"X-Content-Type-Options", {"nosniff"}},
                                          {"X-Frame-Options", {"deny", "sameorigin"}},
                                          {"X-XSS-Protection", {}}};

}  // namespace rdma_exporter::config
