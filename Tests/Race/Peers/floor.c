// What a walk costs at least: `floor bytes URL PAGES` fetches URL followed by 1, 2, 3 …, on one reused handle of
// libcurl, and does nothing with the pages. Prints how many bytes came.
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
    page->capacity = (page->count + length) * 2;
    page->bytes = realloc(page->bytes, page->capacity);
    if (!page->bytes) return 0;
  }
  memcpy(page->bytes + page->count, slice, length);
  page->count += length;
  return length;
}

int main(int count, char **arguments) {
  if (count != 4) return 2;
  CURL *handle = curl_easy_init();
  struct page page = {0};
  long long total = 0;
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, append);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &page);
  for (int number = 1; number <= atoi(arguments[3]); number++) {
    char target[256];
    long status = 0;
    snprintf(target, sizeof target, "%s%d", arguments[2], number);
    page.count = 0;
    curl_easy_setopt(handle, CURLOPT_URL, target);
    if (curl_easy_perform(handle) != CURLE_OK) return 1;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200) return 1;
    total += (long long)page.count;
  }
  curl_easy_cleanup(handle);
  printf("%lld\n", total);
}
