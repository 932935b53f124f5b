// What torch asks a device of its own kind for. Registered once, before main.
#include "tests/stand_in/device/device.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <utility>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "tests/stand_in/device/counts.hpp"
#include "tests/stand_in/device/memory.hpp"
#include "tests/stand_in/device/streams.hpp"

namespace fewbit::stand_in {

namespace {

class GeneratorOfDevice final : public c10::GeneratorImpl {
 public:
  GeneratorOfDevice(c10::DeviceIndex device, at::Generator host)
      : GeneratorImpl(c10::Device(kDevice, device),
                      c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)),
        host_(std::move(host)) {}

  void set_current_seed(uint64_t seed) override { host_.set_current_seed(seed); }
  void set_offset(uint64_t offset) override { host_.set_offset(offset); }
  uint64_t get_offset() const override { return host_.get_offset(); }
  uint64_t current_seed() const override { return host_.current_seed(); }
  uint64_t seed() override { return host_.seed(); }
  void set_state(const c10::TensorImpl& state) override {
    host_.unsafeGetGeneratorImpl()->set_state(state);
  }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override {
    return host_.unsafeGetGeneratorImpl()->get_state();
  }

  const at::Generator& host() const { return host_; }

 private:
  GeneratorImpl* clone_impl() const override {
    return new GeneratorOfDevice(device().index(), host_.clone());
  }

  mutable at::Generator host_;
};

at::Generator new_generator(c10::DeviceIndex device) {
  return at::make_generator<GeneratorOfDevice>(device, at::detail::createCPUGenerator());
}

std::atomic<Fault> planted = Fault::none;

/// Of torch's c10::Event; a new mark for each record.
struct RecordedEvent {
  MarkPointer mark;
};

class Guard final : public c10::impl::DeviceGuardImplInterface {
 public:
  c10::DeviceType type() const override { return kDevice; }
  c10::Device exchangeDevice(c10::Device device) const override {
    const c10::Device before = getDevice();
    setDevice(device);
    return before;
  }
  c10::Device getDevice() const override { return {kDevice, current_device()}; }
  void setDevice(c10::Device device) const override {
    TORCH_CHECK(device.type() == kDevice, "stand_in: a device ", device);
    if (device.has_index()) set_current_device(device.index());
  }
  void uncheckedSetDevice(c10::Device device) const noexcept override { setDevice(device); }
  c10::DeviceIndex deviceCount() const noexcept override { return kDevices; }

  c10::Stream getStream(c10::Device device) const override {
    return current_stream(device.index());
  }
  c10::Stream getDefaultStream(c10::Device device) const override {
    return default_stream(device.index());
  }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override {
    return pool_stream(device.index());
  }
  c10::Stream getNewStream(c10::Device device, int) const override {
    return pool_stream(device.index());
  }
  c10::Stream exchangeStream(c10::Stream stream) const override { return exchange_stream(stream); }
  bool queryStream(const c10::Stream& stream) const override {
    run_some();
    return has_passed(mark(stream));
  }
  void synchronizeStream(const c10::Stream& stream) const override {
    count_wait("for a stream");
    finish(stream);
  }
  void synchronizeDevice(c10::DeviceIndex device) const override {
    count_wait("for a device");
    finish_device(device);
  }

  void record(void** event, const c10::Stream& stream, c10::DeviceIndex device,
              c10::EventFlag) const override {
    TORCH_CHECK(device == -1 || device == stream.device_index(), "stand_in: an event of device ",
                static_cast<int>(device), " is recorded on ", stream);
    if (*event == nullptr) *event = new RecordedEvent;
    static_cast<RecordedEvent*>(*event)->mark = mark(stream);
  }
  void block(void* event, const c10::Stream& stream) const override {
    if (event == nullptr || planted == Fault::waits_for_events) return;
    wait_for(stream, static_cast<RecordedEvent*>(event)->mark);
  }
  bool queryEvent(void* event) const override {
    if (event == nullptr) return true;
    run_some();
    return has_passed(static_cast<RecordedEvent*>(event)->mark);
  }
  void synchronizeEvent(void* event) const override {
    if (event == nullptr) return;
    count_wait("for an event");
    finish(static_cast<RecordedEvent*>(event)->mark);
  }
  void destroyEvent(void* event, c10::DeviceIndex) const noexcept override {
    delete static_cast<RecordedEvent*>(event);
  }

  void recordDataPtrOnStream(const c10::DataPtr& memory, const c10::Stream& stream) const override {
    if (planted != Fault::records_of_streams) record_stream(memory, stream);
  }
};

class Hooks final : public at::PrivateUse1HooksInterface {
 public:
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return kDevices; }
  void setCurrentDevice(c10::DeviceIndex device) const override { set_current_device(device); }
  c10::DeviceIndex getCurrentDevice() const override { return current_device(); }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const override {
    const c10::DeviceIndex before = current_device();
    set_current_device(device);
    return before;
  }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex device) const override {
    return device < 0 ? current_device() : exchangeDevice(device);
  }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex device) const override {
    return default_generator(device);
  }
  at::Generator getNewGenerator(c10::DeviceIndex device) const override {
    return new_generator(device < 0 ? current_device() : device);
  }
  at::Allocator* getPinnedMemoryAllocator() const override { return &pinned_allocator(); }
  bool isPinnedPtr(const void* at) const override { return is_pinned(at); }
};

[[maybe_unused]] const bool is_registered = [] {
  c10::register_privateuse1_backend("stand_in");
  static auto* const hooks = new Hooks;
  at::RegisterPrivateUse1HooksInterface(hooks);
  static auto* const guard = new Guard;
  c10::impl::registerDeviceGuard(kDevice, guard);
  c10::SetAllocator(kDevice, &device_allocator());
  return true;
}();

}  // namespace

void plant(Fault fault) {
  planted = fault;
}

at::Generator host_generator(const at::Generator& of_device) {
  auto* const generator = dynamic_cast<GeneratorOfDevice*>(of_device.unsafeGetGeneratorImpl());
  TORCH_CHECK(generator != nullptr, "Expected a 'stand_in' device type for generator but found '",
              of_device.device().type(), "'");
  return generator->host();
}

const at::Generator& default_generator(c10::DeviceIndex device) {
  static auto* const all =
      new std::array<at::Generator, kDevices>{new_generator(0), new_generator(1)};
  return all->at(static_cast<size_t>(device < 0 ? current_device() : device));
}

DrawsOfDevice::DrawsOfDevice(at::Generator of_device) : host_(host_generator(of_device)) {
  at::Generator cpu = at::globalContext().defaultGenerator(c10::kCPU);
  const std::lock_guard lock(cpu.mutex());
  before_ = cpu.get_state();
  cpu.set_state(host_.get_state());
}

DrawsOfDevice::~DrawsOfDevice() {
  at::Generator cpu = at::globalContext().defaultGenerator(c10::kCPU);
  const std::lock_guard lock(cpu.mutex());
  host_.set_state(cpu.get_state());
  cpu.set_state(before_);
}

}  // namespace fewbit::stand_in
