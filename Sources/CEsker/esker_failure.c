#include "esker_failure.h"

#include <string.h>

// In the thread's own memory, so that nothing is allocated, which may be what failed, and nothing has to be freed when a thread ends.
static _Thread_local char failure_message[1024] = "";
static _Thread_local int failure_errno = 0;

void esker_failure_note(const char *message, size_t length, int code) {
  if (length >= sizeof failure_message) {
    length = sizeof failure_message - 1;
    while (length > 0 && ((unsigned char)message[length] & 0xc0) == 0x80) length--;
  }
  memcpy(failure_message, message, length);
  failure_message[length] = 0;
  failure_errno = code;
}

const char *esker_failure_message(void) { return failure_message; }

int esker_failure_errno(void) { return failure_errno; }
