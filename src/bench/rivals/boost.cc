/* The rival `boost`: what a C++ program does, maps of matrices that Boost.MPI serializes. Nested
 * maps for the small entries. No exception leaves this file. */
#include <boost/mpi.hpp>
#include <boost/mpi/skeleton_and_content.hpp>
#include <boost/serialization/map.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>

#include <cstring>
#include <exception>
#include <map>
#include <new>
#include <string>
#include <vector>

#include "bench/boost.h"

namespace mpi = boost::mpi;

namespace
{

struct matrix {
    std::size_t rows = 0, columns = 0;
    std::vector<double> data;

    template <class Archive> void serialize(Archive &archive, const unsigned)
    {
        archive &rows &columns &data;
    }
};

/* The innermost container: entries by type, as C++ wants them. */
struct leaf {
    std::map<std::string, double> scalars;
    std::map<std::string, std::string> strings;
    std::map<std::string, matrix> matrices;

    template <class Archive> void serialize(Archive &archive, const unsigned)
    {
        archive &scalars &strings &matrices;
    }
};

using matrices = std::map<std::string, matrix>;
using tree = std::map<std::string, std::map<std::string, leaf>>;

std::string key(char letter, std::size_t index)
{
    return letter + std::to_string(index);
}

} // namespace

struct boost_side {
    content shape{};
    mpi::communicator comm;
    matrices large;
    tree small;
    mpi::content types; /* of `large`, once it has its shape */
    bool typed = false;
    mutable std::string text;
};

namespace
{

/* Run a step; what it throws becomes a text. */
template <class Step> int guarded(const boost_side *side, Step step)
{
    try {
        return step();
    } catch (const std::exception &trouble) {
        side->text = trouble.what();
        return 1;
    }
}

const double *doubles_at(const void *payload, std::size_t offset)
{
    return reinterpret_cast<const double *>(static_cast<const char *>(payload) + offset);
}

leaf &leaf_of(boost_side *side, std::size_t index)
{
    return side->small[key('g', index / CONTENT_SECTION)]
                      [key('l', index % CONTENT_SECTION / CONTENT_LEAF)];
}

void store(matrix &target, std::size_t rows, std::size_t columns, const double *data)
{
    target.rows = rows;
    target.columns = columns;
    target.data.assign(data, data + rows * columns);
}

void load_entry(leaf &to, const content_entry &e, const void *payload)
{
    const double *const data = doubles_at(payload, e.offset);

    if (e.type == CONTENT_SCALAR)
        to.scalars[e.key] = *data;
    else if (e.type == CONTENT_MATRIX)
        store(to.matrices[e.key], CONTENT_SIDE, CONTENT_SIDE, data);
    else
        to.strings[e.key].assign(reinterpret_cast<const char *>(data), CONTENT_STRING_BYTES);
}

int load(boost_side *side, const void *payload)
{
    return guarded(side, [&] {
        const content &c = side->shape;
        const std::size_t elements = c.rows * c.columns;
        for (std::size_t k = 0; k < c.small; ++k)
            load_entry(leaf_of(side, k), content_small(&c, k), payload);
        for (std::size_t k = 0; k < c.count; ++k)
            store(side->large[key('m', k)], c.rows, c.columns,
                  doubles_at(payload, k * elements * sizeof(double)));
        return 0;
    });
}

void fetch(const matrix &from, std::size_t rows, std::size_t columns, char *to)
{
    if (from.rows != rows || from.columns != columns || from.data.size() != rows * columns)
        throw std::length_error("a matrix has another shape");
    std::memcpy(to, from.data.data(), from.data.size() * sizeof(double));
}

void unload_entry(const leaf &from, const content_entry &e, char *payload)
{
    if (e.type == CONTENT_SCALAR) {
        std::memcpy(payload + e.offset, &from.scalars.at(e.key), sizeof(double));
    } else if (e.type == CONTENT_MATRIX) {
        fetch(from.matrices.at(e.key), CONTENT_SIDE, CONTENT_SIDE, payload + e.offset);
    } else {
        const std::string &text = from.strings.at(e.key);
        if (text.size() != CONTENT_STRING_BYTES)
            throw std::length_error("a string has another length");
        std::memcpy(payload + e.offset, text.data(), text.size());
    }
}

int unload(const boost_side *side, void *payload)
{
    return guarded(side, [&] {
        const content &c = side->shape;
        char *const to = static_cast<char *>(payload);
        for (std::size_t k = 0; k < c.small; ++k)
            unload_entry(side->small.at(key('g', k / CONTENT_SECTION))
                             .at(key('l', k % CONTENT_SECTION / CONTENT_LEAF)),
                         content_small(&c, k), to);
        for (std::size_t k = 0; k < c.count; ++k)
            fetch(side->large.at(key('m', k)), c.rows, c.columns,
                  to + k * c.rows * c.columns * sizeof(double));
        return 0;
    });
}

/* A type refers to the map's memory. */
void clear(boost_side *side)
{
    side->large.clear();
    side->small.clear();
    side->types = mpi::content();
    side->typed = false;
}

int bcast(boost_side *side, int root)
{
    return guarded(side, [&] {
        if (side->shape.small)
            mpi::broadcast(side->comm, side->small, root);
        else
            mpi::broadcast(side->comm, side->large, root);
        return 0;
    });
}

int send(const boost_side *side, int to, int tag)
{
    return guarded(side, [&] {
        if (side->shape.small)
            side->comm.send(to, tag, side->small);
        else
            side->comm.send(to, tag, side->large);
        return 0;
    });
}

int recv(boost_side *side, int from, int tag)
{
    return guarded(side, [&] {
        if (side->shape.small)
            side->comm.recv(from, tag, side->small);
        else
            side->comm.recv(from, tag, side->large);
        return 0;
    });
}

const mpi::content &types_of(boost_side *side)
{
    if (!side->typed)
        side->types = mpi::get_content(side->large);
    side->typed = true;
    return side->types;
}

int bcast_content(boost_side *side, int root)
{
    return guarded(side, [&] {
        mpi::broadcast(side->comm, types_of(side), root);
        return 0;
    });
}

int send_content(boost_side *side, int to, int tag)
{
    return guarded(side, [&] {
        side->comm.send(to, tag, types_of(side));
        return 0;
    });
}

int recv_content(boost_side *side, int from, int tag)
{
    return guarded(side, [&] {
        side->comm.recv(from, tag, types_of(side));
        return 0;
    });
}

boost_side *open(const content *c, MPI_Comm comm)
{
    try {
        boost_side *const side = new boost_side;
        side->shape = *c;
        side->comm = mpi::communicator(comm, mpi::comm_attach);
        return side;
    } catch (const std::exception &) {
        return nullptr;
    }
}

void close(boost_side *side)
{
    delete side;
}

const char *text(const boost_side *side)
{
    return side->text.c_str();
}

const boost_calls calls = {open,  close, text, load,          unload,       clear,
                           bcast, send,  recv, bcast_content, send_content, recv_content};

} // namespace

extern "C" __attribute__((visibility("default"))) const boost_calls *ferry_bench_boost(void)
{
    return &calls;
}
