// Takes a file apart into words.
#pragma once

#include "table.h"

int words_of_file(struct Table* table, const char* path);
