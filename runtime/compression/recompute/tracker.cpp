#include "compression/recompute/tracker.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <utility>

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/Exception.h>

#include "codecs/common.hpp"
#include "compression/recompute/changing_run.hpp"
#include "compression/recompute/constant.hpp"
#include "compression/recompute/recipes.hpp"
#include "trace/model_parameters.hpp"
#include "trace/running_operations.hpp"

namespace fewbit::session {

namespace {

void append(std::vector<at::Tensor>& all, const std::vector<at::Tensor>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

/// What is computed again, once for all that ask at the same time.
class RecomputedRun final : public ChangingRun {
 public:
  /// addend: the run of what it adds, which the recipe asks for; or null.
  RecomputedRun(Shown from, RunPointer addend, Recipe recipe, const at::Tensor& result)
      : from_(std::move(from)),
        addend_(std::move(addend)),
        recipe_(std::move(recipe)),
        sizes_(result.sizes().vec()),
        strides_(result.strides().vec()),
        rows_(result),
        type_(result.scalar_type()) {
    recipe_.from = at::Tensor();
    for (const at::Tensor& constant : recipe_.kept) constants_.push_back(Constant(constant));
    if (recipe_.weight.held().defined()) constants_.push_back(Constant(recipe_.weight.held()));
  }

  at::Tensor decoded() const override {
    const std::lock_guard lock(mutex_);
    if (at::Tensor run = latest(); run.defined()) return run;
    check();
    const at::NoGradGuard no_grad;
    const at::Tensor run = computed(from_.tensor(), std::nullopt, sizes_);
    options_ = run.options();
    latest_ = run.storage().getWeakStorageImpl();
    return run;
  }

  bool has_parts() const override {
    if (!recipe_.is_by_rows && !recipe_.of_rows) return false;
    if (recipe_.has_rows_beside && !recipe_.has_rows_beside()) return false;
    return rows_.are_outermost() && from_.has_rows() && from_.sizes[0] == sizes_[0];
  }

  at::Tensor decoded(int64_t begin, int64_t end) const override {
    {
      const std::lock_guard lock(mutex_);
      if (const at::Tensor run = latest(); run.defined()) return ops::slice_of(run, begin, end);
      check();
    }
    const auto [first, last] = rows_.holding(begin, end);
    std::vector<int64_t> sizes = sizes_;
    sizes[0] = last - first;
    const at::NoGradGuard no_grad;
    return ops::slice_of(computed(from_.rows(first, last), first, sizes),
                         begin - rows_.begin(first), end - rows_.begin(first));
  }

  /// As what it is computed from holds them now.
  at::TensorList tensors() const override {
    const std::lock_guard lock(mutex_);
    held_ = from_.run->tensors().vec();
    append(held_, recipe_.kept);
    append(held_, recipe_.copies);
    if (recipe_.beside) append(held_, recipe_.beside());
    return held_;
  }

  bool is_settled() const override {
    return session::is_settled(*from_.run) && (!addend_ || session::is_settled(*addend_));
  }
  void when_changed(const std::function<void()>& tell) const override {
    session::when_changed(*from_.run, tell);
    if (addend_) session::when_changed(*addend_, tell);
  }

 private:
  /// With the lock held. Undefined where nobody holds it.
  at::Tensor latest() const {
    auto storage = latest_.lock();
    if (!storage) return {};
    return at::empty({0}, options_)
        .set_(c10::Storage(std::move(storage)), 0, {rows_.elements()}, {1});
  }

  void check() const {
    for (const Constant& constant : constants_) constant.check(recipe_.name);
  }

  /// Of rows from `first` on, or of all: a flat run. Without the graph.
  at::Tensor computed(const at::Tensor& from, std::optional<int64_t> first,
                      at::IntArrayRef sizes) const {
    const c10::impl::ExcludeDispatchKeyGuard guard(c10::autocast_dispatch_keyset);
    const at::Tensor again = recipe_.by_weight ? recipe_.by_weight(from, recipe_.weight.tensor())
                             : first && recipe_.of_rows ? recipe_.of_rows(from, *first)
                                                        : recipe_.again(from);
    const at::Tensor shaped = again.sizes() == sizes ? again : again.reshape(sizes);
    const at::Tensor result = ops::in_type(shaped, type_);
    const int64_t count = result.numel();
    if (result.strides() == at::IntArrayRef(strides_) && result.storage_offset() == 0) {
      return ops::seen_as(result, {count}, {1});
    }
    const at::Tensor laid_out = at::empty_strided(sizes, strides_, result.options());
    laid_out.copy_(result);
    return ops::seen_as(laid_out, {count}, {1});
  }

  Shown from_;
  RunPointer addend_;
  Recipe recipe_;
  std::vector<int64_t> sizes_;
  std::vector<int64_t> strides_;
  codecs::Rows rows_;
  at::ScalarType type_;
  std::vector<Constant> constants_;
  mutable std::mutex mutex_;
  mutable std::vector<at::Tensor> held_;
  mutable c10::weak_intrusive_ptr<c10::StorageImpl> latest_ =
      c10::weak_intrusive_ptr<c10::StorageImpl>::reclaim(nullptr);
  mutable at::TensorOptions options_;
};

/// All of a chain is computed for each of its tensors.
constexpr int kMostSteps = 16, kMostProducts = 2;

bool keeps_codes(const SaveEvent& event) {
  return event.facts.operation == kActivation;
}

/// "linear of norm". A copy goes without saying, but where it is all.
std::string path_of(std::string_view name, const std::string& before) {
  if (before.empty()) return std::string(name);
  if (name == kCopy) return before;
  return before == kCopy ? std::string(name) : std::string(name) + " of " + before;
}

}  // namespace

bool Shown::has_rows() const {
  return codecs::Rows(sizes, strides).are_outermost() && run->has_parts();
}

at::Tensor Shown::rows(int64_t first, int64_t last) const {
  const codecs::Rows rows(sizes, strides);
  std::vector<int64_t> shape = sizes;
  shape[0] = last - first;
  const at::Tensor part = run->decoded(offset + rows.begin(first), offset + rows.begin(last));
  return ops::seen_as(part, shape, strides);
}

Again again(const Shown& shown) {
  Again result{[shown] { return shown.tensor(); }, [shown] { return shown.run->tensors().vec(); },
               [shown] { return shown.has_rows(); },
               [shown](int64_t first, int64_t last) { return shown.rows(first, last); }};
  if (shown.offset == 0 && shown.run->has_parts()) {
    result.elements = [run = shown.run](int64_t begin, int64_t end) {
      return run->decoded(begin, end);
    };
    result.sizes = shown.sizes;
    result.strides = shown.strides;
  }
  return result;
}

void RecomputeTracker::insert(const at::Tensor& run, Piece piece) {
  Contents contents(run);
  std::vector<PlacedPiece>& pieces = pieces_[contents.memory()];
  std::erase_if(
      pieces, [&](const PlacedPiece& old) { return old.contents.version() != contents.version(); });
  pieces.push_back({std::move(contents), std::move(piece)});
  if (++inserted_ >= few_) forget_dead();
}

/// Of memory that is gone, before it is much compared with what lives.
void RecomputeTracker::forget_dead() {
  std::erase_if(pieces_, [](const auto& pieces) { return pieces.second[0].contents.is_gone(); });
  inserted_ = 0;
  few_ = std::max<size_t>(8, pieces_.size() / 4);
}

void RecomputeTracker::add(const at::Tensor& run, const RunPointer& codes, const SiteKey& site,
                           bool keeps_signs) {
  if (!may_be_followed(run)) return;
  if (keeps_signs) signed_ = codes;
  Piece piece;
  piece.codes = codes;
  piece.root = site;
  piece.age = ++added_;
  insert(run, std::move(piece));
}

void RecomputeTracker::keep(const at::Tensor& tensor, const SaveEvent& event) {
  if (!keeps_codes(event)) return;
  const at::Tensor codes = tensor.tensor_data();
  beside_.codes = Again{[codes] { return codes; }, [codes] { return std::vector{codes}; }};
}

void RecomputeTracker::keep_codes(const Shown& codes, const SaveEvent& event) {
  if (keeps_codes(event)) beside_.codes = again(codes);
}

void RecomputeTracker::keep_mask(const Shown& mask, const SaveEvent& event) {
  if (!may_be_recomputed(event.facts.operation)) return;  // nobody asks when it ends
  beside_.mask = again(mask);
}

std::optional<RecomputeTracker::Found> RecomputeTracker::piece_of(const at::Tensor& tensor) const {
  if (!tensor.has_storage()) return std::nullopt;
  const auto pieces = pieces_.find(address_of(tensor));
  if (pieces == pieces_.end()) return std::nullopt;
  for (const auto& [contents, piece] : pieces->second) {
    RunPointer run = piece.recomputed ? piece.recomputed : piece.codes.lock();
    if (!run) continue;
    const std::optional<int64_t> place = contents.place_of(tensor);
    if (!place) continue;
    return Found{piece, {std::move(run), tensor.sizes().vec(), tensor.strides().vec(), *place}};
  }
  return std::nullopt;
}

std::optional<RecomputeTracker::Piece> RecomputeTracker::recomputed(
    const Recipe& recipe, const std::optional<Found>& from, const at::Tensor& result,
    const std::optional<Found>& addend) const {
  const Recompute when = rules_.when(recipe.name);
  if (!from || when == Recompute::never || !may_be_followed(result)) return std::nullopt;
  if (recipe.name == kSign && !from->piece.has_signs) return std::nullopt;
  // Of two, that counts whose codes are the later ones: others use the earlier ones already.
  const bool is_of_addend = addend && addend->piece.age > from->piece.age;
  const Piece& source = is_of_addend ? addend->piece : from->piece;
  Piece piece;
  piece.steps = from->piece.steps + 1 + (addend ? addend->piece.steps : 0);
  piece.products = from->piece.products + (addend ? addend->piece.products : 0) +
                   (recipe.name == kLinear ? 1 : 0);
  if (piece.steps > kMostSteps || piece.products > kMostProducts) return std::nullopt;
  piece.path = path_of(recipe.name, source.path);
  piece.root = source.root;
  piece.age = source.age;
  piece.is_asked_for = from->piece.is_asked_for && (!addend || addend->piece.is_asked_for) &&
                       when == Recompute::always;
  piece.copies = from->piece.copies;
  if (addend) append(piece.copies, addend->piece.copies);
  append(piece.copies, recipe.copies);
  piece.recomputed = rules_.held(std::make_shared<RecomputedRun>(
      from->shown, addend ? addend->shown.run : nullptr, recipe, result));
  return piece;
}

/// Whether there is anything that its result could come of: most calls end here.
bool RecomputeTracker::takes_piece(const RecordedCall& call) const {
  if (pieces_.empty()) return false;
  return std::ranges::any_of(call.arguments, [&](const c10::IValue& argument) {
    return argument.isTensor() && argument.toTensor().defined() &&
           pieces_.contains(address_of(argument.toTensor()));
  });
}

void RecomputeTracker::start_call(const RecordedCall& call) {
  if (KnownClasses::follows(call.operation)) return;  // inside of others, too
  before_.reset();
  if (is_in_place(call.operation)) before_ = piece_of(call.arguments[0].toTensor());
}

void RecomputeTracker::end_call(const RecordedCall& call) {
  if (KnownClasses::follows(call.operation)) {
    if (!call.results.empty()) classes_.end_call(call, {});
    return;
  }
  Beside beside = std::exchange(beside_, {});
  const std::optional<Found> before = std::exchange(before_, {});
  const RunPointer with_signs = std::exchange(signed_, {}).lock();
  if (call.results.empty()) return;  // it threw
  classes_.end_call(call, beside);
  if (!before && !takes_piece(call)) return;
  const std::string_view kind = kind_of(call);
  if (!kind.empty() && rules_.when(kind) == Recompute::never) return;
  std::optional<Found> addend;
  if (const auto other = addend_of(call, rules_.is_of_model)) {
    addend = piece_of(*other);
    if (!addend) return;
    beside.addend = again(addend->shown);
  }
  const auto copy_of = [&](const at::Tensor& parameter) { return copies_.of(parameter); };
  const std::optional<Recipe> recipe =
      recipe_of(call, beside, rules_.is_of_model, copy_of, rules_.weight_of);
  if (!recipe) return;
  const at::Tensor result = call.results[0].toTensor();
  const std::optional<Found> from = is_in_place(call.operation) ? before : piece_of(recipe->from);
  if (std::optional<Piece> piece = recomputed(*recipe, from, result, addend)) {
    piece->has_signs = recipe->name == kNorm && with_signs && from->shown.run == with_signs;
    insert(result, std::move(*piece));
  }
}

std::optional<RecomputeTracker::Recomputed> RecomputeTracker::find(const at::Tensor& tensor,
                                                                   const SaveEvent& event) const {
  if (const std::optional<Recipe> recipe = recipe_of_saved(event)) {
    const std::optional<Piece> piece = recomputed(*recipe, piece_of(recipe->from), tensor);
    if (!piece) return std::nullopt;
    return Recomputed{{piece->recomputed, tensor.sizes().vec(), tensor.strides().vec(), 0},
                      piece->path,
                      piece->root,
                      piece->is_asked_for,
                      piece->copies};
  }
  const std::optional<Found> found = piece_of(tensor);
  if (!found || !found->piece.recomputed) return std::nullopt;
  const Piece& piece = found->piece;
  return Recomputed{found->shown, piece.path, piece.root, piece.is_asked_for, piece.copies};
}

}  // namespace fewbit::session
