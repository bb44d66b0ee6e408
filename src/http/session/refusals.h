// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>

#include "http/response.h"
#include "http/session/connection.h"
#include "http/tls/tls_stream.h"
#include "log/log.h"

// What a session says, counts and logs when it does not serve.
namespace rdma_exporter::http {

/// Why a request is refused with a status that RequestReader found.
RefusedRequest reason_of(unsigned status);

/// The response to a request that is not admitted.
Response refusal_of(Admission admission);

/// Counts it. Wrong passwords are logged once a minute: with the client's address, without the name, because
/// people type passwords into the wrong field.
void count_and_log(SessionContext& context, Admission admission, const std::string& peer);

/// Says in the log, once a minute, and to the client where it can understand it, that there is no way to
/// speak TLS.
void report_handshake_failure(SessionContext& context, TlsStream& stream, const std::string& peer,
                              const boost::system::error_code& error);

/// Other streams have no handshake that could fail.
template <typename Stream>
void report_handshake_failure(SessionContext&, Stream&, const std::string&,
                              const boost::system::error_code&) {}

}  // namespace rdma_exporter::http
