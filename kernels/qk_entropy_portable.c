/* Compiled for any machine. */
#include "kernels/qk_entropy_body.h"
