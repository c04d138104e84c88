// Counts the words of the files that are named, and adds up what the units make of it.
#include <stdio.h>

#include "words.h"

int unit_1(int), unit_7(int), unit_20(int);

int main(int argc, char** argv) {
  struct Table* table = table_new();
  for (int i = 1; i < argc; ++i)
    if (words_of_file(table, argv[i]) != 0) return 1;
  printf("%u words, %u different, digest %08x, units %d\n", table_total(table), table_words(table),
         table_digest(table), unit_1(unit_7(unit_20(argc))));
  return 0;
}
