// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

namespace rdma_exporter {

/// Makes certificates of one authority, as PEM files in a directory.
class Authority {
 public:
  explicit Authority(std::filesystem::path directory) : directory_(std::move(directory)) {
    std::filesystem::create_directories(directory_);
    key_.reset(EVP_EC_gen("P-256"));
    certificate_ = sign("authority", key_.get(), true);
    write("ca.pem", [this](std::FILE* file) { return PEM_write_X509(file, certificate_.get()); });
  }

  std::string file() const { return directory_ / "ca.pem"; }

  struct Files {
    std::string certificate;
    std::string key;
  };
  /// `alternative_names`: as in openssl.cnf, "DNS:a,IP:192.0.2.1".
  Files issue(const std::string& name, const std::string& alternative_names = "") {
    const Key key(EVP_EC_gen("P-256"));
    const Certificate certificate = sign(name, key.get(), false, alternative_names);
    write(name + ".pem", [&](std::FILE* file) { return PEM_write_X509(file, certificate.get()); });
    write(name + ".key", [&](std::FILE* file) {
      return PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    });
    return {directory_ / (name + ".pem"), directory_ / (name + ".key")};
  }

 private:
  template <auto function>
  struct Free {
    template <typename T>
    void operator()(T* pointer) const {
      function(pointer);
    }
  };
  using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
  using Certificate = std::unique_ptr<X509, Free<X509_free>>;

  Certificate sign(const std::string& name, EVP_PKEY* subject_key, bool authority,
                   const std::string& alternative_names = "") {
    Certificate made(X509_new());
    X509_set_version(made.get(), X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(made.get()), ++serial_);
    X509_gmtime_adj(X509_getm_notBefore(made.get()), -3600);
    X509_gmtime_adj(X509_getm_notAfter(made.get()), 3600);
    X509_NAME* subject = X509_get_subject_name(made.get());
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    X509_set_issuer_name(made.get(), authority ? subject : X509_get_subject_name(certificate_.get()));
    X509_set_pubkey(made.get(), subject_key);
    X509_EXTENSION* basic = X509V3_EXT_conf_nid(nullptr, nullptr, NID_basic_constraints,
                                                authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
    X509_add_ext(made.get(), basic, -1);
    X509_EXTENSION_free(basic);
    if (!alternative_names.empty()) {
      X509_EXTENSION* names =
          X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, alternative_names.c_str());
      X509_add_ext(made.get(), names, -1);
      X509_EXTENSION_free(names);
    }
    if (X509_sign(made.get(), key_.get(), EVP_sha256()) == 0) throw std::runtime_error("X509_sign");
    return made;
  }

  template <typename Write>
  void write(const std::string& name, Write print) {
    std::FILE* file = std::fopen((directory_ / name).c_str(), "w");
    if (file == nullptr || print(file) != 1) throw std::runtime_error("cannot write " + name);
    std::fclose(file);
  }

  std::filesystem::path directory_;
  Key key_;
  Certificate certificate_;
  long serial_ = 0;
};

}  // namespace rdma_exporter
