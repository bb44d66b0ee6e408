// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors

// The one translation unit that compiles Beast's implementation (BOOST_BEAST_SEPARATE_COMPILATION): of what
// <boost/beast/src.hpp> includes, HTTP and the streams of tests. WebSocket, which nothing uses, takes longer
// than both.
#include <utility>
//
#define BOOST_BEAST_SOURCE  // instantiates the parsers
#include <boost/beast/_experimental/test/impl/error.ipp>
#include <boost/beast/_experimental/test/impl/fail_count.ipp>
#include <boost/beast/_experimental/test/impl/stream.ipp>
#include <boost/beast/core/detail/impl/temporary_buffer.ipp>
#include <boost/beast/core/impl/error.ipp>
#include <boost/beast/core/impl/saved_handler.ipp>
#include <boost/beast/core/impl/string.ipp>
#include <boost/beast/http/detail/basic_parser.ipp>
#include <boost/beast/http/detail/rfc7230.ipp>
#include <boost/beast/http/impl/basic_parser.ipp>
#include <boost/beast/http/impl/error.ipp>
#include <boost/beast/http/impl/field.ipp>
#include <boost/beast/http/impl/fields.ipp>
#include <boost/beast/http/impl/rfc7230.ipp>
#include <boost/beast/http/impl/status.ipp>
#include <boost/beast/http/impl/verb.ipp>
