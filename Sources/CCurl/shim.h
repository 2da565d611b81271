#pragma once
#include <curl/curl.h>
#include <pthread.h>

// Swift cannot call variadic C functions: each shape of argument gets a function of its own.

static inline CURLcode quire_easy_set_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode quire_easy_set_size(CURL *easy, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode quire_easy_set_string(CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode quire_easy_set_pointer(CURL *easy, CURLoption option, const void *value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode quire_easy_set_list(
    CURL *easy, CURLoption option, struct curl_slist *value) {
  return curl_easy_setopt(easy, option, value);
}

/// The shape of both CURLOPT_WRITEFUNCTION and CURLOPT_HEADERFUNCTION.
typedef size_t (*quire_data_callback)(char *, size_t, size_t, void *);

static inline CURLcode quire_easy_set_data_callback(
    CURL *easy, CURLoption option, quire_data_callback callback) {
  return curl_easy_setopt(easy, option, callback);
}

static inline CURLcode quire_easy_set_opensocket_callback(
    CURL *easy, curl_opensocket_callback callback) {
  return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, callback);
}

static inline CURLcode quire_easy_set_closesocket_callback(
    CURL *easy, curl_closesocket_callback callback) {
  return curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, callback);
}

static inline CURLcode quire_easy_set_prereq_callback(CURL *easy, curl_prereq_callback callback) {
  return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, callback);
}

/// The shape of CURLOPT_SSL_CTX_FUNCTION.
typedef CURLcode (*quire_ssl_context_callback)(CURL *, void *, void *);

static inline CURLcode quire_easy_set_ssl_context_callback(
    CURL *easy, quire_ssl_context_callback callback) {
  return curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, callback);
}

static inline CURLcode quire_easy_get_long(CURL *easy, CURLINFO info, long *value) {
  return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode quire_easy_get_pointer(CURL *easy, CURLINFO info, void **value) {
  return curl_easy_getinfo(easy, info, value);
}

static inline CURLMcode quire_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}

/// A cache of the addresses of names, for the handles that share it.
static inline CURLSH *quire_address_cache(void) {
  CURLSH *share = curl_share_init();
  if (share) curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS);
  return share;
}

static inline CURLcode quire_message_result(const CURLMsg *message) {
  return message->data.result;
}

#ifdef __linux__
// glibc declares it only for programs that ask for every GNU extension.
extern int pthread_setname_np(pthread_t thread, const char *name);
#endif

/// Names the calling thread; Linux shows 15 bytes of it.
static inline void quire_name_thread(const char *name) {
#ifdef __linux__
  pthread_setname_np(pthread_self(), name);
#else
  pthread_setname_np(name);
#endif
}
