#ifndef CESKER_SHIMS_H
#define CESKER_SHIMS_H

#include "esker_crc32c.h"
#include "esker_memory.h"
#include "esker_epoch.h"
#include "esker_held.h"
#include "esker_os.h"
#include "esker_sample.h"

#endif
