// SPDX-License-Identifier: Apache-2.0
// Measures a real GPU, for comparison with hw/gpu: prints JSON. README.md says how to build and run it.
// One file, the CUDA runtime alone; no part of the project's build.
#include <cuda_runtime.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace {

void check(cudaError_t error, const char* what) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "gpu_reference: %s: %s\n", what, cudaGetErrorString(error));
    std::exit(2);
}
#define CHECK_CUDA(call) check(call, #call)

double now_us() {
    using namespace std::chrono;
    return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// Median over runs, after two that warm up. `run` returns us.
double measure(int runs, const std::function<double()>& run) {
    run();
    run();
    std::vector<double> us;
    for (int i = 0; i < runs; ++i) us.push_back(run());
    return median(us);
}

constexpr int kRuns = 15;

// ------------------------------------------------------------------------------------------------ kernels

__global__ void null_kernel() {}

/// Each thread: `multiply_adds` of 4 independent chains, and `loads` of 4 bytes, spread over the bytes.
__global__ void synthetic(float* data, std::uint64_t elements, int multiply_adds, int loads, int stores) {
    const std::uint64_t thread = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const std::uint64_t threads = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
    float a = 1.0f, b = 1.1f, c = 1.2f, d = 1.3f;
    for (int i = 0; i < loads; ++i) a += data[(thread + i * threads) % elements];
    for (int i = 0; i < multiply_adds; i += 4) {
        a = fmaf(a, 0.999f, 0.1f);
        b = fmaf(b, 0.999f, 0.1f);
        c = fmaf(c, 0.999f, 0.1f);
        d = fmaf(d, 0.999f, 0.1f);
    }
    const float sum = a + b + c + d;
    for (int i = 0; i < stores; ++i) data[(thread + i * threads) % elements] = sum;
    if (loads == 0 && stores == 0 && sum == 12345.678f) data[0] = sum;  // keeps the arithmetic
}

constexpr int kTile = 64, kStep = 16, kThreadTile = 4;

/// C (m x n) = A (m x k) B (k x n), FP32, row-major: tiles of 64 x 64, 256 threads with 4 x 4 elements each.
__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float tile_a[kStep][kTile], tile_b[kStep][kTile];
    const int row = blockIdx.y * kTile, column = blockIdx.x * kTile;
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    float sum[kThreadTile][kThreadTile] = {};
    for (int begin = 0; begin < k; begin += kStep) {
        for (int i = threadIdx.x; i < kTile * kStep; i += blockDim.x) {
            const int r = i / kStep, s = i % kStep;
            tile_a[s][r] = row + r < m && begin + s < k ? a[static_cast<std::size_t>(row + r) * k + begin + s] : 0.0f;
            const int t = i / kTile, q = i % kTile;
            tile_b[t][q] =
                column + q < n && begin + t < k ? b[static_cast<std::size_t>(begin + t) * n + column + q] : 0.0f;
        }
        __syncthreads();
        for (int s = 0; s < kStep; ++s)
            for (int i = 0; i < kThreadTile; ++i)
                for (int j = 0; j < kThreadTile; ++j)
                    sum[i][j] = fmaf(tile_a[s][ty * kThreadTile + i], tile_b[s][tx * kThreadTile + j], sum[i][j]);
        __syncthreads();
    }
    for (int i = 0; i < kThreadTile; ++i)
        for (int j = 0; j < kThreadTile; ++j) {
            const int r = row + ty * kThreadTile + i, q = column + tx * kThreadTile + j;
            if (r < m && q < n) c[static_cast<std::size_t>(r) * n + q] = sum[i][j];
        }
}

/// Direct convolution, NCHW, stride 1, padding kernel / 2: a thread an output.
__global__ void convolution(const float* in, const float* weights, float* out, int batch, int channels, int size,
                            int filters, int kernel) {
    const std::uint64_t index = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index >= static_cast<std::uint64_t>(batch) * filters * size * size) return;
    const int x = index % size, y = index / size % size, f = index / size / size % filters,
              image = index / size / size / filters;
    float sum = 0;
    for (int channel = 0; channel < channels; ++channel)
        for (int i = 0; i < kernel; ++i)
            for (int j = 0; j < kernel; ++j) {
                const int yy = y + i - kernel / 2, xx = x + j - kernel / 2;
                if (yy < 0 || xx < 0 || yy >= size || xx >= size) continue;
                sum = fmaf(in[((static_cast<std::size_t>(image) * channels + channel) * size + yy) * size + xx],
                           weights[((static_cast<std::size_t>(f) * channels + channel) * kernel + i) * kernel + j], sum);
            }
    out[index] = sum;
}

// ------------------------------------------------------------------------------------------------ measurements

/// us between two events around what `enqueue` puts on the stream.
double event_us(cudaStream_t stream, const std::function<void()>& enqueue) {
    static cudaEvent_t begin = nullptr, end = nullptr;
    if (begin == nullptr) {
        CHECK_CUDA(cudaEventCreate(&begin));
        CHECK_CUDA(cudaEventCreate(&end));
    }
    CHECK_CUDA(cudaEventRecord(begin, stream));
    enqueue();
    CHECK_CUDA(cudaEventRecord(end, stream));
    CHECK_CUDA(cudaEventSynchronize(end));
    CHECK_CUDA(cudaGetLastError());
    float ms = 0;
    CHECK_CUDA(cudaEventElapsedTime(&ms, begin, end));
    return ms * 1000.0;
}

class Json {
public:
    void open(const char* key, char bracket) {
        name(key);
        std::putchar(bracket);
        first_ = true;
    }
    void close(char bracket) {
        std::putchar(bracket);
        first_ = false;
    }
    void value(const char* key, double number) {
        name(key);
        std::printf("%.9g", number);
    }
    void value(const char* key, const std::string& text) {
        name(key);
        std::putchar('"');
        for (const char letter : text)
            if (letter >= ' ' && letter != '"' && letter != '\\') std::putchar(letter);
        std::putchar('"');
    }

private:
    void name(const char* key) {
        if (!first_) std::printf(",\n");
        first_ = false;
        if (key != nullptr) std::printf("\"%s\": ", key);
    }
    bool first_ = true;
};

void launches(Json& json, cudaStream_t stream) {
    json.value("null_kernel_launch_and_sync_us", measure(200, [&] {
                   const double begin = now_us();
                   null_kernel<<<1, 32, 0, stream>>>();
                   CHECK_CUDA(cudaStreamSynchronize(stream));
                   return now_us() - begin;
               }));
    json.open("chains", '[');
    for (const int length : {1, 10, 100, 225, 1000}) {
        const auto enqueue = [&] {
            for (int i = 0; i < length; ++i) null_kernel<<<1, 32, 0, stream>>>();
        };
        double call_us = 0;
        const double stream_us = measure(kRuns, [&] {
            return event_us(stream, [&] {
                const double begin = now_us();
                enqueue();
                call_us = now_us() - begin;
            });
        });
        double capture_begin = now_us();
        cudaGraph_t graph;
        cudaGraphExec_t instance;
        CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        enqueue();
        CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
        const double capture_us = now_us() - capture_begin;
        const double instantiate_begin = now_us();
        CHECK_CUDA(cudaGraphInstantiateWithFlags(&instance, graph, 0));
        const double instantiate_us = now_us() - instantiate_begin;
        const double replay_us =
            measure(kRuns, [&] { return event_us(stream, [&] { CHECK_CUDA(cudaGraphLaunch(instance, stream)); }); });
        CHECK_CUDA(cudaGraphExecDestroy(instance));
        CHECK_CUDA(cudaGraphDestroy(graph));
        json.open(nullptr, '{');
        json.value("kernels", length);
        json.value("stream_us", stream_us);
        json.value("host_calls_us", call_us);
        json.value("graph_capture_us", capture_us);
        json.value("graph_instantiate_us", instantiate_us);
        json.value("graph_replay_us", replay_us);
        json.close('}');
    }
    json.close(']');
}

/// Streams that fork from `origin` and join it again.
void fork_join(cudaStream_t origin, const std::vector<cudaStream_t>& streams, const std::function<void()>& work) {
    static cudaEvent_t fork = nullptr;
    static std::vector<cudaEvent_t> joins;
    if (fork == nullptr) CHECK_CUDA(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    while (joins.size() < streams.size()) {
        joins.emplace_back();
        CHECK_CUDA(cudaEventCreateWithFlags(&joins.back(), cudaEventDisableTiming));
    }
    CHECK_CUDA(cudaEventRecord(fork, origin));
    for (cudaStream_t stream : streams) CHECK_CUDA(cudaStreamWaitEvent(stream, fork, 0));
    work();
    for (std::size_t i = 0; i < streams.size(); ++i) {
        CHECK_CUDA(cudaEventRecord(joins[i], streams[i]));
        CHECK_CUDA(cudaStreamWaitEvent(origin, joins[i], 0));
    }
}

void concurrency(Json& json, cudaStream_t origin, const std::vector<cudaStream_t>& streams, float* data) {
    constexpr int kMultiplyAdds = 40000;
    json.open("concurrent_kernels", '[');
    for (const int ctas : {1, 10, 50, 200}) {
        for (const int kernels : {1, 2, 4, 8, 16, 32, 64, 128}) {
            const std::vector<cudaStream_t> used(streams.begin(), streams.begin() + kernels);
            const double us = measure(kRuns, [&] {
                return event_us(origin, [&] {
                    fork_join(origin, used, [&] {
                        for (cudaStream_t stream : used)
                            synthetic<<<ctas, 256, 0, stream>>>(data, 1024, kMultiplyAdds, 0, 0);
                    });
                });
            });
            json.open(nullptr, '{');
            json.value("ctas", ctas);
            json.value("kernels", kernels);
            json.value("us", us);
            json.close('}');
        }
    }
    json.close(']');
}

void operators(Json& json, cudaStream_t stream, float* data, std::size_t elements) {
    constexpr int kLaunches = 20;
    float *a = data, *b = data + elements / 4, *c = data + elements / 2;
    json.open("gemm", '[');
    for (const int m : {1, 8, 64, 256, 1024})
        for (const auto& [k, n] : {std::pair<int, int>{384, 96}, {768, 3072}, {3072, 768}, {1024, 512}}) {
            const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
            const double us = measure(kRuns, [&, k = k, n = n] {
                return event_us(stream, [&] {
                           for (int i = 0; i < kLaunches; ++i) gemm<<<grid, 256, 0, stream>>>(a, b, c, m, n, k);
                       }) / kLaunches;
            });
            json.open(nullptr, '{');
            json.value("m", m);
            json.value("k", k);
            json.value("n", n);
            json.value("us", us);
            json.close('}');
        }
    json.close(']');
    json.open("convolution", '[');
    struct Shape {
        int batch, channels, size, filters, kernel;
    };
    for (const Shape& s : {Shape{4, 8, 32, 8, 3}, Shape{27, 20, 32, 20, 3}, Shape{1, 64, 28, 32, 1},
                           Shape{1, 256, 14, 64, 3}, Shape{1, 64, 256, 64, 1}, Shape{28, 64, 32, 144, 3}}) {
        const std::uint64_t outputs = static_cast<std::uint64_t>(s.batch) * s.filters * s.size * s.size;
        const auto ctas = static_cast<unsigned>((outputs + 127) / 128);
        const double us = measure(kRuns, [&] {
            return event_us(stream, [&] {
                       for (int i = 0; i < kLaunches; ++i)
                           convolution<<<ctas, 128, 0, stream>>>(a, b, c, s.batch, s.channels, s.size, s.filters,
                                                                 s.kernel);
                   }) / kLaunches;
        });
        json.open(nullptr, '{');
        json.value("batch", s.batch);
        json.value("channels", s.channels);
        json.value("size", s.size);
        json.value("filters", s.filters);
        json.value("kernel", s.kernel);
        json.value("us", us);
        json.close('}');
    }
    json.close(']');
}

void copies(Json& json, cudaStream_t stream, float* device) {
    void* host = nullptr;
    constexpr std::size_t kLargest = 64u << 20;
    CHECK_CUDA(cudaMallocHost(&host, kLargest));
    json.open("copies", '[');
    for (std::size_t bytes = 4; bytes <= kLargest; bytes *= 8) {
        const double in = measure(kRuns, [&] {
            return event_us(stream,
                            [&] { CHECK_CUDA(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream)); });
        });
        const double out = measure(kRuns, [&] {
            return event_us(stream,
                            [&] { CHECK_CUDA(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream)); });
        });
        json.open(nullptr, '{');
        json.value("bytes", static_cast<double>(bytes));
        json.value("host_to_device_us", in);
        json.value("device_to_host_us", out);
        json.close('}');
    }
    json.close(']');
    CHECK_CUDA(cudaFreeHost(host));
}

// ------------------------------------------------------------------------------------------------ kernel streams

struct Segment {
    std::uint64_t begin, bytes;
};
struct StreamKernel {
    unsigned ctas = 1, threads = 32;
    unsigned shared_bytes = 0;
    double flops = 0, read_bytes = 0, written_bytes = 0;
    std::vector<Segment> reads, writes;
};

/// What follows "key": in a line of docs/kernel_stream.md's JSON Lines; "" if it is not there. Names with escapes are
/// no matter: they are strings, and no key of ours is looked for within the quotes of another.
std::string value_of(const std::string& line, const char* key) {
    const std::size_t at = line.find("\"" + std::string(key) + "\":");
    return at == std::string::npos ? "" : line.substr(line.find(':', at) + 1);
}

std::vector<double> numbers(std::string text, int depth) {
    std::vector<double> result;
    int open = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '[') ++open;
        if (text[i] == ']' && --open == 0) break;
        if (open == depth && (std::isdigit(static_cast<unsigned char>(text[i])) != 0)) {
            char* end = nullptr;
            result.push_back(std::strtod(text.c_str() + i, &end));
            i = static_cast<std::size_t>(end - text.c_str()) - 1;
        }
    }
    return result;
}

std::vector<Segment> segments(const std::string& text) {
    const std::vector<double> flat = numbers(text, 2);
    std::vector<Segment> result;
    for (std::size_t i = 0; i + 1 < flat.size(); i += 2)
        result.push_back({static_cast<std::uint64_t>(flat[i]), static_cast<std::uint64_t>(flat[i + 1])});
    return result;
}

std::vector<StreamKernel> read_stream(const char* path) {
    std::ifstream file(path);
    if (!file) {
        std::fprintf(stderr, "gpu_reference: %s: cannot be opened\n", path);
        std::exit(2);
    }
    std::vector<StreamKernel> kernels;
    for (std::string line; std::getline(file, line);) {
        if (line.empty()) continue;
        StreamKernel kernel;
        kernel.ctas = 1;
        for (const double size : numbers(value_of(line, "grid"), 1)) kernel.ctas *= static_cast<unsigned>(size);
        kernel.threads = 1;
        for (const double size : numbers(value_of(line, "block"), 1)) kernel.threads *= static_cast<unsigned>(size);
        const auto number = [&line](const char* key) { return std::strtod(value_of(line, key).c_str(), nullptr); };
        kernel.shared_bytes = std::min(48u << 10, static_cast<unsigned>(number("shared_bytes")));
        kernel.flops = number("flops") + number("tensor_flops");
        kernel.read_bytes = number("read_bytes");
        kernel.written_bytes = number("written_bytes");
        kernel.reads = segments(value_of(line, "reads"));
        kernel.writes = segments(value_of(line, "writes"));
        kernels.push_back(std::move(kernel));
    }
    return kernels;
}

bool overlap(const std::vector<Segment>& a, const std::vector<Segment>& b) {
    for (const Segment& x : a)
        for (const Segment& y : b)
            if (x.bytes > 0 && y.bytes > 0 && x.begin < y.begin + y.bytes && y.begin < x.begin + x.bytes) return true;
    return false;
}

bool depends(const StreamKernel& later, const StreamKernel& earlier) {
    return overlap(later.reads, earlier.writes) || overlap(later.writes, earlier.reads) ||
           overlap(later.writes, earlier.writes);
}

void launch(const StreamKernel& kernel, cudaStream_t stream, float* data, std::size_t elements) {
    const double threads = static_cast<double>(kernel.ctas) * kernel.threads;
    const auto each = [threads](double all) { return static_cast<int>(all / threads + 0.5); };
    synthetic<<<kernel.ctas, kernel.threads, kernel.shared_bytes, stream>>>(
        data, elements, each(kernel.flops / 2), each(kernel.read_bytes / 4), each(kernel.written_bytes / 4));
}

/// A stream's kernels on one stream, and on several: each kernel on the stream of the dependence that was launched last
/// or the next one, behind events of the others, looking back `window` kernels.
void kernel_stream(Json& json, const char* path, cudaStream_t origin, const std::vector<cudaStream_t>& streams,
                   float* data, std::size_t elements) {
    const std::vector<StreamKernel> kernels = read_stream(path);
    json.open("kernel_stream", '{');
    json.value("file", std::string(path));
    json.value("kernels", static_cast<double>(kernels.size()));
    json.value("serial_us", measure(3, [&] {
                   return event_us(origin, [&] {
                       for (const StreamKernel& kernel : kernels) launch(kernel, origin, data, elements);
                   });
               }));
    std::vector<cudaEvent_t> done(kernels.size());
    for (cudaEvent_t& event : done) CHECK_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    json.open("multi_stream", '[');
    for (const std::size_t window : {16u, 32u}) {
        constexpr std::size_t kStreams = 16;
        const std::vector<cudaStream_t> used(streams.begin(), streams.begin() + kStreams);
        const double us = measure(3, [&] {
            return event_us(origin, [&] {
                fork_join(origin, used, [&] {
                    std::vector<std::size_t> stream_of(kernels.size());
                    for (std::size_t i = 0; i < kernels.size(); ++i) {
                        std::vector<std::size_t> upstream;
                        for (std::size_t j = i > window ? i - window : 0; j < i; ++j)
                            if (depends(kernels[i], kernels[j])) upstream.push_back(j);
                        // Beyond the window: as ACE-SW's window, which lets a kernel in when the oldest is complete.
                        if (i > window) upstream.push_back(i - window - 1);
                        const std::size_t stream = upstream.empty() ? i % kStreams : stream_of[upstream.back()];
                        stream_of[i] = stream;
                        for (const std::size_t j : upstream)
                            if (stream_of[j] != stream) CHECK_CUDA(cudaStreamWaitEvent(used[stream], done[j], 0));
                        launch(kernels[i], used[stream], data, elements);
                        CHECK_CUDA(cudaEventRecord(done[i], used[stream]));
                    }
                });
            });
        });
        json.open(nullptr, '{');
        json.value("window", static_cast<double>(window));
        json.value("streams", static_cast<double>(kStreams));
        json.value("us", us);
        json.close('}');
    }
    json.close(']');
    json.close('}');
    for (cudaEvent_t event : done) CHECK_CUDA(cudaEventDestroy(event));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 2) {
        std::fprintf(stderr, "usage: gpu_reference [KERNEL_STREAM.jsonl]\n");
        return 2;
    }
    cudaDeviceProp device{};
    CHECK_CUDA(cudaGetDeviceProperties(&device, 0));
    int runtime = 0, driver = 0;
    CHECK_CUDA(cudaRuntimeGetVersion(&runtime));
    CHECK_CUDA(cudaDriverGetVersion(&driver));
    constexpr std::size_t kElements = 64u << 20;
    float* data = nullptr;
    CHECK_CUDA(cudaMalloc(&data, kElements * sizeof *data));
    CHECK_CUDA(cudaMemset(data, 0, kElements * sizeof *data));
    cudaStream_t origin;
    CHECK_CUDA(cudaStreamCreateWithFlags(&origin, cudaStreamNonBlocking));
    std::vector<cudaStream_t> streams(128);
    for (cudaStream_t& stream : streams) CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));

    Json json;
    json.open(nullptr, '{');
    json.open("device", '{');
    json.value("name", std::string(device.name));
    json.value("compute_capability", device.major + device.minor / 10.0);
    json.value("multiprocessors", device.multiProcessorCount);
    json.value("l2_bytes", device.l2CacheSize);
    json.value("memory_bytes", static_cast<double>(device.totalGlobalMem));
    json.value("runtime", runtime);
    json.value("driver", driver);
    json.close('}');
    launches(json, origin);
    concurrency(json, origin, streams, data);
    operators(json, origin, data, kElements);
    copies(json, origin, data);
    if (argc == 2) kernel_stream(json, argv[1], origin, streams, data, kElements);
    json.close('}');
    std::printf("\n");
    return 0;
}
