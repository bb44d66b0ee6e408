// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string_view>

#include "core/exposition/format.h"

namespace rdma_exporter::web {

/// The format that the client prefers according to its Accept header (RFC 9110, 12.5.1); of equally preferred
/// ones the first. Text 0.0.4 if the header is absent, malformed or names nothing that is served, so that a
/// person with a browser sees a page.
core::Format preferred_format(std::string_view accept);

/// Whether an Accept-Encoding header allows gzip.
bool accepts_gzip(std::string_view accept_encoding);

/// The value of Content-Type.
std::string_view content_type(core::Format format);

}  // namespace rdma_exporter::web
