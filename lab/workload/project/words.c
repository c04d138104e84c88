// Takes a file apart into words: runs of letters.
#include "words.h"

#include <ctype.h>
#include <stdio.h>

enum { kMostLetters = 63 };

int words_of_file(struct Table* table, const char* path) {
  char word[kMostLetters + 1];
  int length = 0, letter;
  FILE* file = fopen(path, "r");
  if (!file) return -1;
  do {
    letter = fgetc(file);
    if (letter != EOF && isalpha(letter) && length < kMostLetters) {
      word[length++] = (char)letter;
    } else if (length > 0) {
      word[length] = '\0';
      table_add(table, word);
      length = 0;
    }
  } while (letter != EOF);
  return fclose(file);
}
