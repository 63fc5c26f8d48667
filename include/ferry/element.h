/** @file
 * Types of elements, and how two of them are combined.
 */
#ifndef FERRY_ELEMENT_H
#define FERRY_ELEMENT_H

#include "ferry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Types of values. The numbers are part of the image format and never change. */
typedef enum ferry_type {
    FERRY_TYPE_NULL = 0,        /**< nothing */
    FERRY_TYPE_BOOL = 1,        /**< one byte, 0 or 1 */
    FERRY_TYPE_INT8 = 2,        /**< int8_t */
    FERRY_TYPE_INT16 = 3,       /**< int16_t */
    FERRY_TYPE_INT32 = 4,       /**< int32_t */
    FERRY_TYPE_INT64 = 5,       /**< int64_t */
    FERRY_TYPE_UINT8 = 6,       /**< uint8_t */
    FERRY_TYPE_UINT16 = 7,      /**< uint16_t */
    FERRY_TYPE_UINT32 = 8,      /**< uint32_t */
    FERRY_TYPE_UINT64 = 9,      /**< uint64_t */
    FERRY_TYPE_FLOAT32 = 10,    /**< float */
    FERRY_TYPE_FLOAT64 = 11,    /**< double */
    FERRY_TYPE_COMPLEX64 = 12,  /**< two floats, ferry_complex64 */
    FERRY_TYPE_COMPLEX128 = 13, /**< two doubles, ferry_complex128 */
    FERRY_TYPE_STRING = 14,     /**< bytes, with a flag that tells whether they are UTF-8 */
    FERRY_TYPE_BYTES = 15,      /**< bytes */
    FERRY_TYPE_ARRAY = 16,      /**< n-dimensional array of bool .. complex128 */
    FERRY_TYPE_LIST = 17,       /**< ferry_list */
    FERRY_TYPE_BUNDLE = 18,     /**< ferry_bundle */
    FERRY_TYPE_STRINGS = 19     /**< array of strings of one dimension, each of any bytes */
} ferry_type;

/** A complex number of two floats; laid out as C's `float _Complex` and C++'s `std::complex<float>`. */
typedef struct ferry_complex64 {
    float re; /**< real part */
    float im; /**< imaginary part */
} ferry_complex64;

/** A complex number of two doubles; laid out as C's `double _Complex` and C++'s `std::complex<double>`. */
typedef struct ferry_complex128 {
    double re; /**< real part */
    double im; /**< imaginary part */
} ferry_complex128;

/**
 * What becomes of an element when another arrives for it: a is the element that is there, b the one that arrives.
 *
 * Integers wrap around. Sums and products of floating point numbers are rounded once for each element that arrives,
 * complex products once for each of their four products and two sums. A NaN wins over numbers in minima and maxima,
 * and the first of several stays; of two equal ones, 0.0 and -0.0 too, a stays. Which NaN a sum or a product of NaNs is,
 * is not promised.
 */
typedef enum ferry_op {
    FERRY_OP_REPLACE = 0, /**< b; no order is promised, so nothing else may arrive at the same place */
    FERRY_OP_SUM = 1,     /**< a + b; of bool: a or b */
    FERRY_OP_PROD = 2,    /**< a * b; of bool: a and b */
    FERRY_OP_MIN = 3,     /**< the lesser one; not of complex numbers */
    FERRY_OP_MAX = 4,     /**< the greater one; not of complex numbers */
    FERRY_OP_LAST = 5     /**< b, in order: of several that arrive at one place the last one stays; of any type */
} ferry_op;

#ifdef __cplusplus
}
#endif
#endif /* FERRY_ELEMENT_H */
