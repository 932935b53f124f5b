// The caller's stream and no other: graphs, and two streams at once.
#include "tests/gpu/gpu_test.hpp"

namespace fewbit::kernels::cuda {

namespace {

/// A forward and a backward pass with dy = y, in memory that stays for replays.
struct Round {
  Round(const StepView& view, ElementType element_type, int64_t elements)
      : steps(view),
        type(element_type),
        count(elements),
        x(elements * element_bytes(element_type)),
        y(x.bytes()),
        codes(code_bytes(elements, view.bits)),
        dx(x.bytes()) {}

  void enqueue(cudaStream_t stream) const {
    check(activation_forward(known("silu"), nullptr, steps, type, x.at(), y.at(), codes.at(), count,
                             stream),
          "forward");
    check(activation_backward(steps, type, y.at(), codes.at(), dx.at(), count, stream), "backward");
  }

  void expect_results(const Bytes& input, const char* what) const {
    const Pass expected = run_forward(known("silu"), steps, type, input);
    expect(y.download() == expected.y, what, type_name(type), "values differ");
    expect(codes.download() == expected.codes, what, type_name(type), "codes differ");
    expect(dx.download() == run_backward(steps, type, expected.y, expected.codes), what,
           type_name(type), "gradients differ");
  }

  StepView steps;
  ElementType type;
  int64_t count;
  Memory x, y, codes, dx;
};

/// What `body` enqueues, as a graph.
class Graph {
 public:
  template <class Body>
  Graph(const Stream& stream, const Body& body) {
    // Kernels are loaded at their first launch, which a capture does not allow.
    body();
    stream.wait();
    // Global: whatever would wait, allocate or touch another stream makes the capture fail.
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "begin of capture");
    body();
    check(cudaStreamEndCapture(stream, &graph_), "end of capture");
    check(cudaGraphInstantiate(&executable_, graph_, 0), "graph");
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() {
    cudaGraphExecDestroy(executable_);
    cudaGraphDestroy(graph_);
  }

  void replay(cudaStream_t stream) const { check(cudaGraphLaunch(executable_, stream), "replay"); }

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace

GPU_TEST(graphs_replay_on_new_inputs, Cost::small) {
  for (const int thresholds : {7, 300}) {
    for (const ElementType type : kTypes) {
      const SyntheticTable table(3, thresholds, 6);
      constexpr int64_t kCount = 100 * 1024 + 11;
      Round round(table.view(), type, kCount);
      round.x.upload(bytes_of(normal_inputs(kCount, 9), type));
      const Stream stream;
      const Graph graph(stream, [&] { round.enqueue(stream); });
      for (const uint32_t seed : {1u, 2u, 3u}) {
        const Bytes input = bytes_of(normal_inputs(kCount, seed), type);
        round.x.upload(input);
        graph.replay(stream);
        stream.wait();
        round.expect_results(input, "replay");
      }
    }
  }
}

GPU_TEST(captured_unbiased_passes_read_their_seed_at_every_replay, Cost::small) {
  const StepView steps = view_of(generated::gelu::tables::unbiased_normal_b3);
  const Bytes input = bytes_of(normal_inputs(5000, 7), ElementType::f32);
  const PhiloxState random{3, 4};
  DeviceNumber seed(0);
  const Memory x(input), y(x.bytes()), codes(code_bytes(5000, 3));
  const Stream stream;
  const Graph graph(stream, [&] {
    check(activation_forward_unbiased(known("gelu"), nullptr, steps, {seed.at(), random.offset},
                                      ElementType::f32, x.at(), y.at(), codes.at(), 5000, stream),
          "forward");
  });
  seed.set(random.seed);
  graph.replay(stream);
  stream.wait();
  const Pass expected = run_forward(known("gelu"), steps, ElementType::f32, input, &random);
  expect(y.download() == expected.y && codes.download() == expected.codes, "the replay differs");
}

GPU_TEST(two_streams_do_not_disturb_each_other, Cost::large) {
  const SyntheticTable tables[] = {SyntheticTable(3, 7, 6), SyntheticTable(5, 31, 7)};
  constexpr int64_t kCounts[] = {(1 << 20) + 3, (1 << 19) + 100};
  constexpr ElementType kStreamTypes[] = {ElementType::bf16, ElementType::f32};
  const Stream streams[2];
  std::vector<Round> rounds;
  std::vector<Bytes> inputs;
  for (size_t n = 0; n < 2; ++n) {
    rounds.emplace_back(tables[n].view(), kStreamTypes[n], kCounts[n]);
    inputs.push_back(
        bytes_of(normal_inputs(kCounts[n], static_cast<uint32_t>(n)), kStreamTypes[n]));
    rounds[n].x.upload(inputs[n]);
  }
  check(cudaDeviceSynchronize(), "uploads");
  for (int i = 0; i < 20; ++i) {
    for (size_t n = 0; n < 2; ++n) rounds[n].enqueue(streams[n]);
  }
  for (const Stream& stream : streams) stream.wait();
  for (size_t n = 0; n < 2; ++n) rounds[n].expect_results(inputs[n], "beside the other stream");
}

GPU_TEST(passes_over_nothing_leave_no_error_behind, Cost::small) {
  const SyntheticTable table(3, 7, 6);
  const Memory x(4096), codes(4096);
  check(activation_forward(known("gelu"), nullptr, table.view(), ElementType::f32, x.at(), x.at(),
                           codes.at(), 0, nullptr),
        "nothing to do");
  check(activation_backward(table.view(), ElementType::f32, x.at(), codes.at(), x.at(), 0, nullptr),
        "nothing to do");
  check(cudaDeviceSynchronize(), "kernels");
  check(cudaGetLastError(), "an error from before");
}

}  // namespace fewbit::kernels::cuda
