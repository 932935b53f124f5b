"""Unchanged models of transformers, random and tiny, and its Trainer."""

import pytest
import torch

import fewbit

transformers = pytest.importorskip("transformers")

SIZES = {
    "vocab_size": 512,
    "hidden_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 256,
}
BATCH, TOKENS = 8, 64


def language_model(name, **options):
    config = getattr(transformers, name + "Config")(max_position_embeddings=128, **SIZES, **options)
    model = getattr(transformers, name + "ForCausalLM")(config)
    ids = torch.randint(0, 512, (BATCH, TOKENS))
    return model, lambda: model(input_ids=ids, labels=ids).loss


def gpt2():
    config = transformers.GPT2Config(
        vocab_size=512,
        n_embd=128,
        n_layer=2,
        n_head=4,
        n_positions=128,
        bos_token_id=1,
        eos_token_id=2,
    )
    model = transformers.GPT2LMHeadModel(config)
    fewbit.swap_activations(model)
    ids = torch.randint(0, 512, (BATCH, TOKENS))
    return model, lambda: model(input_ids=ids, labels=ids).loss


def bert():
    config = transformers.BertConfig(max_position_embeddings=128, **SIZES)
    model = transformers.BertForSequenceClassification(config)
    ids, labels = torch.randint(0, 512, (BATCH, TOKENS)), torch.randint(0, 2, (BATCH,))
    return model, lambda: model(input_ids=ids, labels=labels).loss


def vit():
    sizes = {name: value for name, value in SIZES.items() if name != "vocab_size"}
    model = transformers.ViTForImageClassification(
        transformers.ViTConfig(image_size=64, patch_size=8, **sizes)
    )
    images, labels = torch.randn(BATCH, 3, 64, 64), torch.randint(0, 2, (BATCH,))
    return model, lambda: model(pixel_values=images, labels=labels).loss


def whisper():
    model = transformers.WhisperForConditionalGeneration(
        transformers.WhisperConfig(
            vocab_size=512,
            d_model=128,
            encoder_layers=2,
            decoder_layers=2,
            encoder_attention_heads=4,
            decoder_attention_heads=4,
            encoder_ffn_dim=256,
            decoder_ffn_dim=256,
            max_source_positions=64,
            max_target_positions=64,
            num_mel_bins=32,
            pad_token_id=0,
            bos_token_id=1,
            eos_token_id=2,
            decoder_start_token_id=1,
        )
    )
    sound, labels = torch.randn(BATCH, 32, 128), torch.randint(3, 512, (BATCH, 32))
    return model, lambda: model(input_features=sound, labels=labels).loss


FAMILIES = {
    "llama": lambda: language_model("Llama", num_key_value_heads=2),
    "qwen2": lambda: language_model("Qwen2", num_key_value_heads=2),
    "gemma": lambda: language_model("Gemma", num_key_value_heads=2, head_dim=32),
    "mistral": lambda: language_model("Mistral", num_key_value_heads=2),
    "gpt2, swapped": gpt2,
    "bert": bert,
    "vit": vit,
    "whisper": whisper,
}


def gradient_of(model, loss):
    model.zero_grad()
    loss.backward()
    return torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])


@pytest.mark.parametrize("family", FAMILIES)
def test_unchanged_models(family):
    torch.manual_seed(1)
    model, loss = FAMILIES[family]()
    model.eval()  # the same without dropout
    with fewbit.SavedBytes(model) as saved:
        value = loss()
    exact, exact_bytes = gradient_of(model, value), saved.unique_bytes
    errors, times_less = [], []
    for bits in (2, 8):
        compressor = fewbit.Compressor(model, bits=bits)
        for _ in range(2):
            saved = fewbit.SavedBytes(model)
            with saved, compressor:
                value = loss()
            gradient = gradient_of(model, value)
        errors.append(float((gradient - exact).norm() / exact.norm()))
        times_less.append(exact_bytes / saved.unique_bytes)
    assert times_less[0] > 8 and times_less[1] > 2.4, times_less
    assert errors[0] < 0.4 and errors[1] < 0.02, errors
    assert all(site.module for site in compressor.sites() if "addmm" in site.operation)


def test_swapped_activations_are_the_same_functions():
    x = torch.randn(1000) * 3
    activations = transformers.activations
    names = [
        "NewGELUActivation",
        "FastGELUActivation",
        "AccurateGELUActivation",
        "QuickGELUActivation",
    ]
    model = torch.nn.Sequential(*(getattr(activations, name)() for name in names))
    model.append(activations.LaplaceActivation())
    before = [module(x) for module in model]
    swaps = fewbit.swap_activations(model)
    assert [swap.reason == "" for swap in swaps] == [True] * 4 + [False], swaps
    for module, value in zip(model, before, strict=True):
        assert torch.allclose(module(x), value, atol=1e-5), module


def test_trainer(tmp_path):
    from fewbit.integrations.transformers import Trainer

    def train(**options):
        torch.manual_seed(2)
        model, _ = FAMILIES["llama"]()
        ids = torch.randint(0, 512, (64, 32), generator=torch.Generator().manual_seed(3))
        data = [{"input_ids": row, "labels": row} for row in ids]
        arguments = transformers.TrainingArguments(
            output_dir=tmp_path,
            max_steps=10,
            per_device_train_batch_size=8,
            use_cpu=True,
            gradient_accumulation_steps=2,
            learning_rate=1e-3,
            report_to=[],
            disable_tqdm=True,
            save_strategy="no",
            logging_strategy="no",
            seed=4,
        )
        trainer = Trainer(model=model, args=arguments, train_dataset=data, **options)
        return trainer, trainer.train().training_loss

    exact, exact_loss = train(activation_compression=None)
    assert exact.compressor is None
    ours, loss = train(activation_compression=4)
    assert abs(loss - exact_loss) < 0.02, (loss, exact_loss)
    assert ours.compressor is not None and ours.compressor.sites()[0].count == 20
    ours.evaluate([{"input_ids": torch.arange(32), "labels": torch.arange(32)}])
    assert ours.compressor.sites()[0].count == 20
