"""Lightning's Trainer with ActivationCompression."""

import lightning
import pytest
import torch

from fewbit.integrations.lightning import ActivationCompression


class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(16, 128), torch.nn.GELU(), torch.nn.Linear(128, 1)
        )
        self.losses = []

    def training_step(self, batch, index):
        x, y = batch
        if index == 3:
            return None  # Lightning skips such a step
        loss = torch.nn.functional.mse_loss(self.layers(x), y)
        self.losses.append(float(loss.detach()))
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


def trained(tmp_path, callbacks, **options):
    torch.manual_seed(2)
    x = torch.randn(512, 16)
    data = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(x, x.sum(1, keepdim=True)), batch_size=64
    )
    module = Module()
    trainer = lightning.Trainer(
        max_epochs=4,
        accelerator="cpu",
        callbacks=callbacks,
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        enable_checkpointing=False,
        default_root_dir=tmp_path,
        **options,
    )
    trainer.fit(module, data)
    return module, trainer


@pytest.mark.parametrize("accumulate", [1, 2])
def test_training_goes_as_without(tmp_path, accumulate):
    exact, _ = trained(tmp_path, [], accumulate_grad_batches=accumulate)
    callback = ActivationCompression(bits=4, rules={"layers.0.*": "exact"})
    ours, trainer = trained(tmp_path, [callback], accumulate_grad_batches=accumulate)
    assert abs(ours.losses[-1] - exact.losses[-1]) < 0.05 * exact.losses[0]
    assert "layers.2" in callback.compressor.report()
    file = tmp_path / "state.ckpt"
    trainer.save_checkpoint(file)
    again = ActivationCompression(bits=4)
    again.load_state_dict(callback.state_dict())
    again.on_train_start(trainer, ours)
    assert again.compressor.state_dict() == callback.compressor.state_dict()
    assert "ActivationCompression" in next(iter(torch.load(file, weights_only=False)["callbacks"]))


def test_a_step_that_raises_leaves_no_scope_open(tmp_path):
    class Raises(Module):
        def training_step(self, batch, index):
            raise KeyError("mine")

    callback = ActivationCompression()
    trainer = lightning.Trainer(
        max_epochs=1,
        accelerator="cpu",
        callbacks=[callback],
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=tmp_path,
        enable_checkpointing=False,
    )
    data = torch.utils.data.DataLoader(torch.randn(8, 2))
    with pytest.raises(KeyError, match="mine"):
        trainer.fit(Raises(), data)
    with callback.compressor:
        pass
