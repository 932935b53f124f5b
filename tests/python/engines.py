"""Engines of torch.distributed around a compressed model: two processes with gloo on this machine,
against one process with all of the data."""

import contextlib
import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as processes
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import CPUOffloadPolicy, MixedPrecisionPolicy, fully_shard
from torch.distributed.pipelining import (
    PipelineStage,
    Schedule1F1B,
    ScheduleGPipe,
    ScheduleInterleavedZeroBubble,
)
from torch.distributed.tensor import DTensor, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    SequenceParallel,
    parallelize_module,
)
from torch.nn.parallel import DistributedDataParallel

import fewbit

WORLD, ROWS, WIDTH, BITS = 2, 48, 64, 6


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(WIDTH)
        self.up = torch.nn.Linear(WIDTH, 4 * WIDTH)
        self.down = torch.nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))


class Model(torch.nn.Module):
    def __init__(self, has_unused=False):
        super().__init__()
        torch.manual_seed(1)
        self.blocks = torch.nn.ModuleList(Block() for _ in range(3))
        self.head = torch.nn.Linear(WIDTH, 8)
        self.unused = torch.nn.Linear(WIDTH, WIDTH) if has_unused else None

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def data():
    generator = torch.Generator().manual_seed(2)
    return (
        torch.randn(WORLD * ROWS, WIDTH, generator=generator),
        torch.randn(WORLD * ROWS, 8, generator=generator),
    )


def loss_of(model, x, target):
    return torch.nn.functional.mse_loss(model(x).float(), target)


def part_of_data():
    rank = dist.get_rank()
    return [part[rank * ROWS : (rank + 1) * ROWS] for part in data()]


def whole(tensor):
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def gradients(model):
    return torch.cat(
        [whole(p.grad).float().flatten().cpu() for p in model.parameters() if p.grad is not None]
    )


def exact_gradients(part=lambda model: model):
    """Of one process with all of the data, of a part of the model."""
    model = Model()
    loss_of(model, *data()).backward()
    return gradients(part(model))


def error_of(model, exact):
    return {"error": float((gradients(model) - exact).norm() / exact.norm())}


def measured(model, forward, exact):
    """The gradient's error in the third step and what the process saves; forward returns the loss,
    or None where it ran backward, too."""

    def step(*scopes):
        model.zero_grad()
        with contextlib.ExitStack() as stack:
            for scope in scopes:
                stack.enter_context(scope)
            loss = forward()
        if loss is not None:
            loss.backward()

    step(saved := fewbit.SavedBytes(model))
    result = {"exact bytes": saved.unique_bytes}
    compressor = fewbit.Compressor(model, bits=BITS)
    for _ in range(3):
        step(saved := fewbit.SavedBytes(model), compressor)
    return result | error_of(model, exact) | {"bytes": saved.unique_bytes}


def measured_as(wrapped, model):
    """The same, where each process has its part of the rows."""
    return measured(model, lambda: loss_of(wrapped, *part_of_data()), exact_gradients())


def ddp(**options):
    model = Model(has_unused=options.get("find_unused_parameters", False))
    return measured_as(DistributedDataParallel(model, **options), model)


def ddp_with_a_communication_hook():
    from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import bf16_compress_hook

    model = Model()
    wrapped = DistributedDataParallel(model)
    wrapped.register_comm_hook(None, bf16_compress_hook)
    return measured_as(wrapped, model)


def ddp_accumulates_without_synchronizing():
    """Two halves of each process's rows, gradients exchanged with the second alone."""
    model = Model()
    wrapped = DistributedDataParallel(model)
    compressor = fewbit.Compressor(model, bits=BITS)
    for _ in range(3):
        wrapped.zero_grad()
        halves = list(zip(*(part.chunk(2) for part in part_of_data()), strict=True))
        with wrapped.no_sync():
            with compressor:
                loss = loss_of(wrapped, *halves[0]) / 2
            loss.backward()
        with compressor:
            loss = loss_of(wrapped, *halves[1]) / 2
        loss.backward()
    return error_of(model, exact_gradients())


def ddp_with_uneven_batches():
    """As an epoch's last: the second process has half as many rows, of which sites had more."""
    model = Model()
    wrapped = DistributedDataParallel(model)
    compressor = fewbit.Compressor(model, bits=BITS)
    for rows in (ROWS, ROWS, ROWS // (1 + dist.get_rank())):
        x, target = (part[:rows] for part in part_of_data())
        wrapped.zero_grad()
        loss_of(wrapped, x, target).backward()
        exact = gradients(model)
        wrapped.zero_grad()
        with compressor:
            loss = loss_of(wrapped, x, target)
        loss.backward()
    return error_of(model, exact)


def a_step_fails_in_one_process():
    """As out of memory does: its scope closes, and the next step is as if nothing was."""
    model = Model()
    compressor = fewbit.Compressor(model, bits=BITS)
    wrapped = DistributedDataParallel(model)
    for attempt in range(3):
        wrapped.zero_grad()
        try:
            with compressor:
                loss = loss_of(model if attempt == 1 else wrapped, *part_of_data())
                if attempt == 1 and dist.get_rank() == 1:
                    raise MemoryError
        except MemoryError:
            continue
        if attempt != 1:  # the others give that step up
            loss.backward()
    return error_of(model, exact_gradients())


def replicas_stay_equal():
    """For 100 steps; each process draws codes of its own."""
    model = Model()
    wrapped = DistributedDataParallel(model)
    compressor = fewbit.Compressor(model, bits=2)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    x, target = part_of_data()
    for _ in range(100):
        optimizer.zero_grad()
        with compressor:
            loss = loss_of(wrapped, x, target)
        loss.backward()
        optimizer.step()
    own = torch.nn.utils.parameters_to_vector(model.parameters()).detach()
    others = [torch.empty_like(own) for _ in range(WORLD)]
    dist.all_gather(others, own)
    return {
        "equal": all(torch.equal(own, other) for other in others),
        "finite": own.isfinite().all(),
    }


def streams_differ():
    """The same data in both processes: the codes' errors are independent, so that their mean has
    1 / sqrt(2) of one's."""
    one = Model()
    x, target = (part[:ROWS] for part in data())
    loss_of(one, x, target).backward()
    exact = gradients(one)
    compressor = fewbit.Compressor(one, bits=1)
    one.zero_grad()
    with compressor:
        loss = loss_of(one, x, target)
    loss.backward()
    error = gradients(one) - exact
    mean = error.clone()
    dist.all_reduce(mean)
    return {"ratio": float(mean.norm() / WORLD / error.norm())}


def fsdp(**options):
    """Every block, and the rest."""
    from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import (
        apply_activation_checkpointing,
    )

    checkpoints, compiles = options.pop("checkpoints", False), options.pop("compiles", False)
    if options.pop("replicates", False):
        names = ("replicate", "shard")
        options["mesh"] = init_device_mesh("cpu", (WORLD, 1), mesh_dim_names=names)
    model = Model()
    if checkpoints:
        apply_activation_checkpointing(model, check_fn=lambda module: isinstance(module, Block))
    for block in model.blocks:
        if compiles:
            block.compile(backend="aot_eager")
        fully_shard(block, **options)
    fully_shard(model, **options)
    result = measured_as(model, model)
    weights = [site for site in fewbit_sites(model) if site.elements == 4 * WIDTH * WIDTH]
    return result | {"weights": len(weights)}


def fewbit_sites(model):
    compressor = fewbit.Compressor(model, bits=BITS)
    with compressor:
        loss = loss_of(model, *part_of_data())
    loss.backward()
    return compressor.sites()


def tensor_parallel():
    """Columns of the first layer and rows of the second in each process; all have all data."""
    mesh = init_device_mesh("cpu", (WORLD,))
    model = Model()
    for block in model.blocks:
        parallelize_module(block, mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()})
    return measured(model, lambda: loss_of(model, *data()), exact_gradients())


def sequence_parallel():
    """Norms have a part of the rows each, products gather them."""
    plan = {
        "norm": SequenceParallel(sequence_dim=0),
        "up": ColwiseParallel(input_layouts=Shard(0)),
        "down": RowwiseParallel(output_layouts=Shard(0)),
    }
    one, block = Model().blocks[0], Model().blocks[0]
    layers = ("norm", "up", "down")
    x, target = data()[0], torch.ones(WORLD * ROWS, WIDTH)
    loss_of(torch.nn.Sequential(*(getattr(one, name) for name in layers)), x, target).backward()
    exact = gradients(one)
    parallelize_module(block, init_device_mesh("cpu", (WORLD,)), plan)
    model = torch.nn.Sequential(*(getattr(block, name) for name in layers))
    rows = slice(dist.get_rank() * ROWS, (dist.get_rank() + 1) * ROWS)
    return measured(model, lambda: loss_of(model, x[rows], target[rows]) / WORLD, exact)


def accelerated():
    """By Hugging Face's accelerate."""
    from accelerate import Accelerator

    model = Model()
    return measured_as(Accelerator(cpu=True).prepare(model), model)


def layers_of(model):
    return [*model.blocks, model.head]


def by_schedule(schedule, model, part):
    """Forward and backward both inside of the `with`."""
    x, target = data()

    def forward():
        schedule.step(x) if dist.get_rank() == 0 else schedule.step(target=target)

    exact = exact_gradients(lambda one: part(layers_of(one)))
    return measured(part(layers_of(model)), forward, exact)


def pipeline(schedule_of):
    """Two stages, four microbatches."""
    rank = dist.get_rank()

    def part(layers):
        return torch.nn.Sequential(*(layers[:2] if rank == 0 else layers[2:]))

    model = Model()
    stage = PipelineStage(part(layers_of(model)), rank, WORLD, torch.device("cpu"))
    schedule = schedule_of(stage, 4, loss_fn=torch.nn.functional.mse_loss)
    return by_schedule(schedule, model, part)


def pipeline_without_bubbles():
    """Two stages in each process; backward of inputs and of weights come apart."""
    places = (dist.get_rank(), dist.get_rank() + WORLD)

    def part(layers):
        return torch.nn.ModuleList(layers[place] for place in places)

    layers = layers_of(model := Model())
    stages = [
        PipelineStage(layers[place], place, len(layers), torch.device("cpu")) for place in places
    ]
    loss = torch.nn.functional.mse_loss
    return by_schedule(ScheduleInterleavedZeroBubble(stages, 4, loss_fn=loss), model, part)


def ddp_compiled():
    model = Model()
    model.compile(backend="aot_eager")
    return measured_as(DistributedDataParallel(model), model)


def resumes_by_distributed_checkpoint():
    """A Compressor's state beside the model's, saved by two processes."""
    import torch.distributed.checkpoint as checkpoints

    model = Model()
    wrapped = DistributedDataParallel(model)
    compressor = fewbit.Compressor(model, bits=2)
    x, target = part_of_data()

    def step(own):
        wrapped.zero_grad()
        with own:
            loss = loss_of(wrapped, x, target)
        loss.backward()
        return gradients(model)

    for _ in range(4):
        step(compressor)
    folder = os.environ["FEWBIT_TEST_FOLDER"]
    state = {"model": model.state_dict(), f"compressor {dist.get_rank()}": compressor.state_dict()}
    checkpoints.save(state, checkpoint_id=folder)
    fifth = step(compressor)
    other = fewbit.Compressor(model, bits=2)
    own = {"sites": ""}
    loaded = {f"compressor {dist.get_rank()}": own}
    checkpoints.load(loaded, checkpoint_id=folder)
    other.load_state_dict(loaded[f"compressor {dist.get_rank()}"])
    equal = torch.equal(step(other), fifth)
    # On another number of processes some have a state of others: bits are a model's.
    another = fewbit.Compressor(model, bits=2)
    loaded = {"compressor 0": {"sites": ""}}
    checkpoints.load(loaded, checkpoint_id=folder)
    another.load_state_dict(loaded["compressor 0"])
    bits = [site.stored.bits for site in another.sites()]
    step(another)
    return {"equal": equal, "goes on": bits == [site.stored.bits for site in another.sites()]}


CASES = {
    "ddp": (ddp, {}),
    "ddp, static graph": (ddp, {"static_graph": True}),
    "ddp, bucket views": (ddp, {"gradient_as_bucket_view": True}),
    "ddp, unused parameters": (ddp, {"find_unused_parameters": True}),
    "ddp, bf16 communication": (ddp_with_a_communication_hook, {}),
    "ddp, accumulation": (ddp_accumulates_without_synchronizing, {}),
    "ddp, compiled": (ddp_compiled, {}),
    "ddp, uneven batches": (ddp_with_uneven_batches, {}),
    "ddp, a step that fails": (a_step_fails_in_one_process, {}),
    "replicas": (replicas_stay_equal, {}),
    "streams": (streams_differ, {}),
    "fsdp": (fsdp, {}),
    "fsdp, not resharded": (fsdp, {"reshard_after_forward": False}),
    "fsdp, bf16": (fsdp, {"mp_policy": MixedPrecisionPolicy(param_dtype=torch.bfloat16)}),
    "fsdp, weights offloaded": (fsdp, {"offload_policy": CPUOffloadPolicy(pin_memory=False)}),
    "fsdp, checkpoints": (fsdp, {"checkpoints": True}),
    "fsdp, blocks compiled": (fsdp, {"compiles": True}),
    "hsdp": (fsdp, {"replicates": True}),
    "tensor parallel": (tensor_parallel, {}),
    "sequence parallel": (sequence_parallel, {}),
    "accelerate": (accelerated, {}),
    "pipeline, GPipe": (pipeline, {"schedule_of": ScheduleGPipe}),
    "pipeline, 1F1B": (pipeline, {"schedule_of": Schedule1F1B}),
    "pipeline, zero bubble": (pipeline_without_bubbles, {}),
    "checkpoint": (resumes_by_distributed_checkpoint, {}),
}


def enter_group(rank, port):
    """The process group of this machine's processes, each with one thread."""
    os.environ.update(
        MASTER_ADDR="127.0.0.1",
        GLOO_SOCKET_IFNAME="lo",  # whatever the machine's name leads to
        MASTER_PORT=str(port),
        RANK=str(rank),
        LOCAL_RANK=str(rank),
        WORLD_SIZE=str(WORLD),
    )
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=WORLD)


def run(rank, port, folder):
    os.environ["FEWBIT_TEST_FOLDER"] = folder
    enter_group(rank, port)
    init_device_mesh("cpu", (WORLD,))
    results = {}
    for name, (case, options) in CASES.items():
        try:
            results[name] = case(**options)
        except Exception as error:
            results[name] = {"failure": f"{type(error).__name__}: {error}"}
        dist.barrier()
    torch.save(results, os.path.join(folder, f"results{rank}.pt"))
    dist.destroy_process_group()


def results_by_rank():
    """What each process found of each case."""
    with tempfile.TemporaryDirectory() as folder:
        port = 29400 + os.getpid() % 1000
        processes.spawn(run, (port, folder), nprocs=WORLD)
        return [torch.load(os.path.join(folder, f"results{rank}.pt")) for rank in range(WORLD)]
