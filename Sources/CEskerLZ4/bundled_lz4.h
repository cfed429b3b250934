// LZ4 is included rather than compiled, so that its functions are local to the file that includes this: those of another copy in the
// same program, of another version perhaps, do not clash with them. Those that it declares without a macro are renamed.
#define LZ4LIB_VISIBILITY static
#define LZ4_PUBLISH_STATIC_FUNCTIONS
#define LZ4_DISABLE_DEPRECATE_WARNINGS
#define LZ4_compress_destSize_extState ESKER_LZ4(compress_dest_size_ext_state)
#define LZ4_compress_forceExtDict ESKER_LZ4(compress_force_ext_dict)
#define LZ4_decompress_safe_forceExtDict ESKER_LZ4(decompress_safe_force_ext_dict)
#define LZ4_decompress_safe_partial_forceExtDict ESKER_LZ4(decompress_safe_partial_force_ext_dict)
#define LZ4_loadDict_internal ESKER_LZ4(load_dict_internal)
#define LZ4HC_searchExtDict ESKER_LZ4(search_ext_dict)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-function"
#include "lz4/lz4.c"
#include "lz4/lz4hc.c"
#pragma clang diagnostic pop
