"""transformers' Trainer with compression, with what is used beside it."""

import datasets
import peft
import pytest
import torch
import transformers
import trl

from families import FAMILIES
from fewbit.integrations.transformers import CompressionMixin, Trainer


def tokens(count=64):
    ids = torch.randint(0, 512, (count, 32), generator=torch.Generator().manual_seed(3))
    return [{"input_ids": row, "labels": row} for row in ids]


def arguments(folder, kind=transformers.TrainingArguments, **options):
    options = {"max_steps": 10, "save_strategy": "no"} | options
    return kind(
        output_dir=folder,
        per_device_train_batch_size=8,
        use_cpu=True,
        learning_rate=1e-3,
        report_to=[],
        disable_tqdm=True,
        logging_strategy="no",
        seed=4,
        **options,
    )


def llama():
    torch.manual_seed(2)
    return FAMILIES["llama"]()[0]


def low_rank(model):
    torch.manual_seed(5)
    config = peft.LoraConfig(r=4, target_modules="all-linear", init_lora_weights="gaussian")
    return peft.get_peft_model(model, config)


def losses(folder, model, **options):
    """The mean loss of exact training and of training with 4 bits, and the latter's trainer."""
    mean = []
    for bits in (None, 4):
        trainer = Trainer(
            model=model(),
            args=arguments(folder, **options),
            train_dataset=tokens(),
            activation_compression=bits,
        )
        mean.append(trainer.train().training_loss)
    return mean, trainer


def test_accumulation(tmp_path):
    (exact, ours), trainer = losses(tmp_path, llama, gradient_accumulation_steps=2)
    assert abs(ours - exact) < 0.02, (ours, exact)
    assert trainer.compressor.sites()[0].count == 20
    trainer.evaluate([{"input_ids": torch.arange(32), "labels": torch.arange(32)}])
    assert trainer.compressor.sites()[0].count == 20


def test_low_rank_adapters_of_peft(tmp_path):
    (exact, ours), trainer = losses(tmp_path, lambda: low_rank(llama()))
    assert abs(ours - exact) < 0.02, (ours, exact)
    assert "lora_A" in trainer.compressor.report()


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_gradient_checkpointing(tmp_path, use_reentrant):
    (exact, ours), trainer = losses(
        tmp_path,
        llama,
        gradient_checkpointing=True,
        gradient_checkpointing_kwargs={"use_reentrant": use_reentrant},
    )
    assert abs(ours - exact) < 0.02, (ours, exact)
    coded = {site.operation for site in trainer.compressor.sites()}
    assert ("CheckpointFunction" if use_reentrant else "_NoopSaveInputs") in coded


def test_inputs_of_checkpoints_are_offloaded(tmp_path):
    trainer = Trainer(
        model=llama(),
        args=arguments(
            tmp_path,
            gradient_checkpointing=True,
            gradient_checkpointing_kwargs={"use_reentrant": False},
        ),
        train_dataset=tokens(),
        activation_compression={"bits": 4, "rules": {"_NoopSaveInputs": "offload"}},
    )
    trainer.train()
    inputs = [s for s in trainer.compressor.sites() if s.operation == "_NoopSaveInputs"]
    assert {str(site.stored) for site in inputs} == {"offloaded"}
    assert all(site.bytes_offloaded == site.bytes_before for site in inputs)


def test_noise_chooses_the_bits(tmp_path):
    def trained(compression):
        trainer = Trainer(
            model=low_rank(llama()),
            args=arguments(tmp_path),
            train_dataset=tokens(),
            activation_compression=compression,
        )
        return trainer, trainer.train().training_loss

    trainer, loss = trained({"noise": 0.05})
    bits = trainer.compressor.bits
    rows = {row.bits: row.added for row in trainer.noise.rows}
    assert rows[bits] <= 0.05 < max(rows[few] for few in rows if few < bits), trainer.noise
    assert trainer.compressor.sites()[0].count == 10
    # Measuring has changed nothing.
    assert loss == trained({"bits": bits})[1]
    with pytest.raises(ValueError, match="both bits and noise"):
        trained({"noise": 0.05, "bits": 2})


def test_noise_that_no_bits_reach_takes_the_least(tmp_path, caplog):
    trainer = Trainer(
        model=low_rank(llama()),
        args=arguments(tmp_path, max_steps=1),
        train_dataset=tokens(16),
        activation_compression={"noise": 1e-12, "group": 128},
    )
    trainer.train()
    least = min(trainer.noise.rows, key=lambda row: row.added)
    assert trainer.compressor.bits == least.bits
    assert f"{least.bits:g} bits add least noise" in caplog.text


def test_a_checkpoint_resumes_bit_for_bit(tmp_path):
    def trained(folder, resume=None, **options):
        trainer = Trainer(
            model=llama(),
            args=arguments(
                folder, save_strategy="steps", save_steps=5, lr_scheduler_type="constant", **options
            ),
            train_dataset=tokens(),
            activation_compression=2,
        )
        trainer.train(resume_from_checkpoint=resume)
        return trainer

    whole = trained(tmp_path / "whole")
    trained(tmp_path / "part", max_steps=5)
    resumed = trained(tmp_path / "part", resume=True)
    assert resumed.state.global_step == 10
    for one, other in zip(whole.model.parameters(), resumed.model.parameters(), strict=True):
        assert torch.equal(one, other)


class SFTTrainer(CompressionMixin, trl.SFTTrainer):
    pass


def test_trls_trainer(tmp_path):
    rows = datasets.Dataset.from_dict(
        {"input_ids": [row["input_ids"].tolist() for row in tokens()]}
    )
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tiny_tokenizer(), eos_token="w1", pad_token="w0"
    )
    mean = []
    for bits in (None, 4):
        trainer = SFTTrainer(
            model=low_rank(llama()),
            args=arguments(tmp_path, trl.SFTConfig, bf16=False),
            train_dataset=rows,
            processing_class=tokenizer,
            activation_compression=bits,
        )
        mean.append(trainer.train().training_loss)
    assert abs(mean[0] - mean[1]) < 0.02, mean
    assert trainer.compressor.sites()


def tiny_tokenizer():
    from tokenizers import Tokenizer, models

    return Tokenizer(models.WordLevel({f"w{i}": i for i in range(512)}, unk_token="w2"))
