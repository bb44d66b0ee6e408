// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>

#include "http/response.h"
#include "http/session/connection.h"
#include "http/tls/tls_stream.h"
#include "log/log.h"

// What a session answers, counts and logs if it does not serve a request.
namespace rdma_exporter::http {

/// The reason for rejecting a request with a status found by RequestReader.
RefusedRequest reason_of(unsigned status);

/// The response to a request that is not admitted.
Response refusal_of(Admission admission);

/// Counts it. Wrong passwords are logged once a minute, with the client's address but without the name,
/// because people type passwords into the wrong field.
void count_and_log(SessionContext& context, Admission admission, const std::string& peer);

/// Reports a failed TLS handshake: in the log, once a minute, and to the client if it can understand it.
void report_handshake_failure(SessionContext& context, TlsStream& stream, const std::string& peer,
                              const boost::system::error_code& error);

/// Other streams have no handshake that could fail.
template <typename Stream>
void report_handshake_failure(SessionContext&, Stream&, const std::string&,
                              const boost::system::error_code&) {}

}  // namespace rdma_exporter::http
