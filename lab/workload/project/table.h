// A table of words with a count each.
#pragma once

struct Table;

struct Table* table_new(void);
void table_add(struct Table* table, const char* word);
unsigned table_words(const struct Table* table);
unsigned table_total(const struct Table* table);
unsigned table_digest(const struct Table* table);
