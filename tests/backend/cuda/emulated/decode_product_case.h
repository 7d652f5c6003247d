// SPDX-License-Identifier: Apache-2.0
// The kernel decode_product.cu on the host, as PRODUCT(rows, width, ...) with the macros that the
// includer has set, which end here.
alignas(16) unsigned char memory[1 << 18];
#include "ubique/backend/cuda/sources/decode/decode_product.cu"
#undef decode_product
#undef ROWS
#undef WIDTH
#undef PIECES
#undef TILES
#undef GATED
#undef NORMED
