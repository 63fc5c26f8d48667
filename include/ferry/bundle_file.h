/** @file
 * Bundles in files. A file is one image, the same bytes that ferry_bundle_encode() gives.
 *
 *     ferry_bundle_save(b, "state.ferry");
 *     ferry_bundle_map("state.ferry", &b);    // large values are read when they are looked at
 */
#ifndef FERRY_BUNDLE_FILE_H
#define FERRY_BUNDLE_FILE_H

#include "ferry/bundle.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Write a bundle to a file. It grows under a hidden name beside @p path (".<name>.<number>.partial"), is written
 * through to the disk, and then takes its name in one step: under @p path there is what was there before or the whole
 * bundle, never a part. A process that is killed meanwhile leaves the hidden file.
 *
 * @param bundle  to write; only read
 * @param path    a new name or a regular file, which is replaced and keeps its permissions. A symbolic link is
 *                followed
 * @retval FERRY_OK          the file is complete
 * @retval FERRY_ERR_ARG     a pointer is NULL, @p path is empty or too long, or it is no regular file
 * @retval FERRY_ERR_LIMIT   as ferry_bundle_encode()
 * @retval FERRY_ERR_MEMORY  out of memory
 * @retval FERRY_ERR_SYSTEM  the system refuses (the text names the path and the reason); what was at @p path is as it
 *                           was, the hidden file is removed after any failure
 *
 * Collective   no             Blocks  until the disk has it
 * Memory       the small values and 32 B for each large one, freed again
 * Threads      any number that only read; two that write one path: one of them wins
 * Cost         one write of the bytes, large values from where they lie     Since   0.1
 */
FERRY_API ferry_status ferry_bundle_save(const ferry_bundle *bundle, const char *path);

/**
 * Read a bundle from a file.
 *
 * @param path        regular file
 * @param bundle_out  filled; the caller frees it with ferry_bundle_free()
 * @retval FERRY_OK          filled
 * @retval FERRY_ERR_ARG     a pointer is NULL, or @p path is no regular file
 * @retval FERRY_ERR_FORMAT  no image, or a damaged one (the text names path and byte)
 * @retval FERRY_ERR_MEMORY  out of memory
 * @retval FERRY_ERR_SYSTEM  the system refuses (the text names the path and the reason); nothing is filled after any
 *                           failure
 *
 * Collective   no             Blocks  while the disk is read
 * Memory       the file in one block of ferry_memory_take(), and one for the tree
 * Threads      any thread     Cost    one read of the bytes     Since   0.1
 */
FERRY_API ferry_status ferry_bundle_load(const char *path, ferry_bundle **bundle_out);

/**
 * Make a bundle whose values lie in a file's pages. Only what is looked at is read: at first the header, the schema,
 * the keys and the small values. Processes of one node that map one file share its pages.
 *
 * The mapping is private: changing the bundle never changes the file. The file may be removed or replaced (as
 * ferry_bundle_save() does) while it is mapped; the bundle keeps what it had. It must not be *written in place or
 * made shorter*: values would change underneath, and looking at a value behind the new end ends the process with
 * SIGBUS. So does a disk that fails. ferry_bundle_load() has none of these dangers, and ferry_bundle_copy() frees a
 * mapped bundle from them.
 *
 * @param path        regular file
 * @param bundle_out  filled; the caller frees it with ferry_bundle_free(), which ends the mapping
 * @retval FERRY_OK          filled
 * @retval FERRY_ERR_ARG     a pointer is NULL, or @p path is no regular file
 * @retval FERRY_ERR_FORMAT  no image, or a damaged one (the text names path and byte)
 * @retval FERRY_ERR_MEMORY  out of memory
 * @retval FERRY_ERR_SYSTEM  the system refuses (the text names the path and the reason); nothing is filled after any
 *                           failure
 *
 * Collective   no             Blocks  while the disk is read
 * Memory       address space for the file, pages of what was looked at, and one block for the tree
 * Threads      any thread     Cost    reads all but the large values     Since   0.1
 */
FERRY_API ferry_status ferry_bundle_map(const char *path, ferry_bundle **bundle_out);

#ifdef __cplusplus
}
#endif
#endif /* FERRY_BUNDLE_FILE_H */
