// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// The functions of fmt, which Debian 12 has as a shared library only: its headers define what is no template,
// too.
#include <fmt/format-inl.h>

// Templates that the headers declare extern: other files expect them here.
FMT_BEGIN_NAMESPACE
namespace detail {
template thousands_sep_result<char> thousands_sep_impl(locale_ref);
template char decimal_point_impl(locale_ref);
template std::locale locale_ref::get<std::locale>() const;
}  // namespace detail
FMT_END_NAMESPACE
