#include "CEskerShims.h"
