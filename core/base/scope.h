/* scope.h - AUTO(x) declares a struct x that x_done() empties at the end of its scope. */
#ifndef CORE_BASE_SCOPE_H
#define CORE_BASE_SCOPE_H

#define AUTO(type) __attribute__((cleanup(type##_done))) struct type

#endif
