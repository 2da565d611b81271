#pragma once
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// Macros that Swift cannot import.

static inline EVP_PKEY *quire_generate_p256_key(void) { return EVP_EC_gen("P-256"); }

static inline int quire_set_minimum_version(SSL_CTX *context, int version) {
  return (int)SSL_CTX_set_min_proto_version(context, version);
}

static inline int quire_set_maximum_version(SSL_CTX *context, int version) {
  return (int)SSL_CTX_set_max_proto_version(context, version);
}

static inline int quire_add_chain_certificate(SSL_CTX *context, X509 *certificate) {
  return (int)SSL_CTX_add1_chain_cert(context, certificate);
}

static inline void quire_allow_partial_writes(SSL_CTX *context) {
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}
