// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <openssl/types.h>

#include <string>
#include <vector>

namespace rdma_exporter::http {

/// The subject alternative names of a certificate as text: DNS names, e-mail addresses, URIs, IP addresses.
std::vector<std::string> subject_alternative_names(const X509* certificate);

/// "expired at Nov 20 06:00:00 2026 GMT", "is valid from ... on", or empty if the certificate is valid now.
std::string validity_problem(const X509* certificate);

}  // namespace rdma_exporter::http
