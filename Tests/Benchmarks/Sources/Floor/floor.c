#include "floor.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct page {
  char *bytes;
  size_t count, capacity;
};

static size_t append(char *slice, size_t size, size_t count, void *context) {
  struct page *page = context;
  size_t length = size * count;
  if (page->count + length > page->capacity) {
    size_t capacity = (page->count + length) * 2;
    char *bytes = realloc(page->bytes, capacity);
    if (!bytes) return 0;
    page->bytes = bytes;
    page->capacity = capacity;
  }
  memcpy(page->bytes + page->count, slice, length);
  page->count += length;
  return length;
}

long long floor_walk(const char *url, int pages) {
  CURL *handle = curl_easy_init();
  if (!handle) return -1;
  struct page page = {0};
  long long total = 0;
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, append);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &page);
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  for (int number = 1; number <= pages; number++) {
    char target[256];
    long status = 0;
    snprintf(target, sizeof target, "%s%d", url, number);
    page.count = 0;
    curl_easy_setopt(handle, CURLOPT_URL, target);
    if (curl_easy_perform(handle) != CURLE_OK
        || curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status) != CURLE_OK
        || status != 200) {
      total = -1;
      break;
    }
    total += (long long)page.count;
  }
  curl_easy_cleanup(handle);
  free(page.bytes);
  return total;
}
