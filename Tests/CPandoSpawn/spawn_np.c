#include "spawn_np.h"
