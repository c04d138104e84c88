// A table of words with a count each: open hashing in a fixed number of buckets.
#include "table.h"

#include <stdlib.h>
#include <string.h>

enum { kBuckets = 257 };

struct Entry {
  struct Entry* next;
  unsigned count;
  char word[1];
};

struct Table {
  struct Entry* buckets[kBuckets];
};

static unsigned hash(const char* word) {
  unsigned value = 2166136261u;
  while (*word) value = (value ^ (unsigned char)*word++) * 16777619u;
  return value;
}

struct Table* table_new(void) {
  return calloc(1, sizeof(struct Table));
}

void table_add(struct Table* table, const char* word) {
  struct Entry** at = &table->buckets[hash(word) % kBuckets];
  while (*at && strcmp((*at)->word, word) != 0) at = &(*at)->next;
  if (!*at) {
    *at = calloc(1, sizeof(struct Entry) + strlen(word));
    strcpy((*at)->word, word);
  }
  ++(*at)->count;
}

unsigned table_words(const struct Table* table) {
  unsigned words = 0;
  for (int i = 0; i < kBuckets; ++i)
    for (const struct Entry* entry = table->buckets[i]; entry; entry = entry->next) ++words;
  return words;
}

unsigned table_total(const struct Table* table) {
  unsigned total = 0;
  for (int i = 0; i < kBuckets; ++i)
    for (const struct Entry* entry = table->buckets[i]; entry; entry = entry->next)
      total += entry->count;
  return total;
}

unsigned table_digest(const struct Table* table) {
  unsigned digest = 0;
  for (int i = 0; i < kBuckets; ++i)
    for (const struct Entry* entry = table->buckets[i]; entry; entry = entry->next)
      digest += hash(entry->word) * entry->count;
  return digest;
}
