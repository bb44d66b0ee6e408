// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "http/tls/certificate.h"

#include <arpa/inet.h>
#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <array>
#include <memory>

namespace rdma_exporter::http {
namespace {

std::string text_of(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(::ASN1_STRING_get0_data(text)),
          static_cast<std::size_t>(::ASN1_STRING_length(text))};
}

/// As people write it; empty when it has not the length of an address.
std::string address_of(const ASN1_OCTET_STRING* bytes) {
  const int length = ::ASN1_STRING_length(bytes);
  if (length != 4 && length != 16) return {};
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(length == 4 ? AF_INET : AF_INET6, ::ASN1_STRING_get0_data(bytes), text.data(), text.size());
  return text.data();
}

std::string name_of(const GENERAL_NAME* name) {
  switch (name->type) {
    case GEN_DNS:
      return text_of(name->d.dNSName);
    case GEN_EMAIL:
      return text_of(name->d.rfc822Name);
    case GEN_URI:
      return text_of(name->d.uniformResourceIdentifier);
    case GEN_IPADD:
      return address_of(name->d.iPAddress);
    default:
      return {};
  }
}

std::string to_text(const ASN1_TIME* time) {
  const std::unique_ptr<BIO, decltype(&::BIO_free)> out(::BIO_new(::BIO_s_mem()), ::BIO_free);
  if (!out || ::ASN1_TIME_print(out.get(), time) != 1) return "an unknown time";
  char* text = nullptr;
  const long size = ::BIO_get_mem_data(out.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

}  // namespace

std::vector<std::string> subject_alternative_names(const X509* certificate) {
  const std::unique_ptr<GENERAL_NAMES, decltype(&::GENERAL_NAMES_free)> names(
      static_cast<GENERAL_NAMES*>(::X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
      ::GENERAL_NAMES_free);
  std::vector<std::string> texts;
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    std::string text = name_of(sk_GENERAL_NAME_value(names.get(), i));
    if (!text.empty()) texts.push_back(std::move(text));
  }
  return texts;
}

std::string validity_problem(const X509* certificate) {
  const ASN1_TIME* const begin = ::X509_get0_notBefore(certificate);
  const ASN1_TIME* const end = ::X509_get0_notAfter(certificate);
  if (::X509_cmp_current_time(end) < 0) return "expired at " + to_text(end);
  if (::X509_cmp_current_time(begin) > 0) return "is valid from " + to_text(begin) + " on";
  return {};
}

}  // namespace rdma_exporter::http
