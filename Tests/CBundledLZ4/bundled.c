#include "CBundledLZ4.h"

#define ESKER_LZ4(name) esker_bundled_lz4_##name
#include "../../Sources/CEskerLZ4/esker_lz4.c"
