/* Compiled for any machine. */
#include "kernels/row_entropy_body.h"
