#include "allocations.h"
