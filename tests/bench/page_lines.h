// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// A page that a bare program writes for each answer: it copies what precedes a number, and prints the number.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "die.h"

struct page_line {
  const char* text;
  size_t size;  // up to the number, or of the whole line if it does not end with an integer
  uint64_t number;
  int has_number;
};

struct page_lines {
  struct page_line* lines;
  size_t count, size;  // the size is that of the page
};

static inline struct page_line line_of(char* text, char* end) {
  struct page_line line = {.text = text, .size = (size_t)(end - text), .number = 0, .has_number = 0};
  *end = '\0';
  char* last = strrchr(text, ' ');
  if (!last || text[0] == '#' || strspn(last + 1, "0123456789") != (size_t)(end - last - 1)) return line;
  line.size = (size_t)(last + 1 - text);
  line.number = strtoull(last + 1, NULL, 10);
  line.has_number = 1;
  return line;
}

static inline void load_page(struct page_lines* page, const char* name) {
  struct stat status;
  FILE* in = fopen(name, "r");
  if (!in || fstat(fileno(in), &status) != 0) die(name);
  page->size = (size_t)status.st_size;
  char* text = malloc(page->size + 1);
  page->lines = malloc(page->size * sizeof *page->lines);
  if (!text || !page->lines || fread(text, page->size, 1, in) != 1) die(name);
  fclose(in);
  text[page->size] = '\0';
  for (char* end; (end = strchr(text, '\n')); text = end + 1) page->lines[page->count++] = line_of(text, end);
}

static inline char* put_number(char* to, uint64_t number) {
  char digits[20];
  char* first = digits + sizeof digits;
  do *--first = (char)('0' + number % 10);
  while (number /= 10);
  size_t size = (size_t)(digits + sizeof digits - first);
  memcpy(to, first, size);
  return to + size;
}

static inline void write_page(const struct page_lines* page, char* to) {
  for (const struct page_line* line = page->lines; line < page->lines + page->count; ++line) {
    memcpy(to, line->text, line->size);
    to += line->size;
    if (line->has_number) to = put_number(to, line->number);
    *to++ = '\n';
  }
}
