"""Random, tiny models of transformers: each function gives a model and its loss."""

from collections.abc import Callable

import torch
import transformers

SIZES = {
    "hidden_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 256,
}
WORDS, BATCH, TOKENS = 512, 8, 64
SPECIAL = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}

Family = tuple[torch.nn.Module, Callable[[], torch.Tensor]]


def of_ids(model: torch.nn.Module) -> Family:
    ids = torch.randint(3, WORDS, (BATCH, TOKENS))
    return model, lambda: model(input_ids=ids, labels=ids).loss


def language_model(name: str, **options: object) -> Family:
    config = getattr(transformers, name + "Config")(
        vocab_size=WORDS, max_position_embeddings=128, **SIZES, **SPECIAL, **options
    )
    return of_ids(getattr(transformers, name + "ForCausalLM")(config))


def gpt2() -> Family:
    sizes = {"n_embd": 128, "n_layer": 2, "n_head": 4, "n_positions": 128}
    config = transformers.GPT2Config(vocab_size=WORDS, **sizes, **SPECIAL)
    return of_ids(transformers.GPT2LMHeadModel(config))


def t5() -> Family:
    sizes = {"d_model": 128, "d_kv": 32, "d_ff": 256, "num_layers": 2, "num_heads": 4}
    config = transformers.T5Config(vocab_size=WORDS, **sizes, **SPECIAL, decoder_start_token_id=0)
    return of_ids(transformers.T5ForConditionalGeneration(config))


def bert() -> Family:
    config = transformers.BertConfig(vocab_size=WORDS, max_position_embeddings=128, **SIZES)
    model = transformers.BertForSequenceClassification(config)
    ids, labels = torch.randint(0, WORDS, (BATCH, TOKENS)), torch.randint(0, 2, (BATCH,))
    return model, lambda: model(input_ids=ids, labels=labels).loss


def vit() -> Family:
    config = transformers.ViTConfig(image_size=64, patch_size=8, **SIZES)
    model = transformers.ViTForImageClassification(config)
    images, labels = torch.randn(BATCH, 3, 64, 64), torch.randint(0, 2, (BATCH,))
    return model, lambda: model(pixel_values=images, labels=labels).loss


def clip() -> Family:
    text = {"vocab_size": WORDS, "max_position_embeddings": 64, **SIZES, **SPECIAL}
    images = {"image_size": 64, "patch_size": 8, **SIZES}
    config = transformers.CLIPConfig(text_config=text, vision_config=images, projection_dim=64)
    model = transformers.CLIPModel(config)
    ids, pictures = torch.randint(3, WORDS, (BATCH, 32)), torch.randn(BATCH, 3, 64, 64)
    return model, lambda: model(input_ids=ids, pixel_values=pictures, return_loss=True).loss


def whisper() -> Family:
    sizes = {"d_model": 128, "max_source_positions": 64, "max_target_positions": 64}
    for part in ("encoder", "decoder"):
        sizes |= {f"{part}_layers": 2, f"{part}_attention_heads": 4, f"{part}_ffn_dim": 256}
    config = transformers.WhisperConfig(
        vocab_size=WORDS, num_mel_bins=32, decoder_start_token_id=1, **sizes, **SPECIAL
    )
    model = transformers.WhisperForConditionalGeneration(config)
    sound, labels = torch.randn(BATCH, 32, 128), torch.randint(3, WORDS, (BATCH, 32))
    return model, lambda: model(input_features=sound, labels=labels).loss


def mamba() -> Family:
    sizes = {"hidden_size": 128, "num_hidden_layers": 2, "state_size": 8}
    config = transformers.MambaConfig(vocab_size=WORDS, **sizes, **SPECIAL)
    return of_ids(transformers.MambaForCausalLM(config))


FAMILIES: dict[str, Callable[[], Family]] = {
    "llama": lambda: language_model("Llama", num_key_value_heads=2),
    "qwen2": lambda: language_model("Qwen2", num_key_value_heads=2),
    "gemma": lambda: language_model("Gemma", num_key_value_heads=2, head_dim=32),
    "mistral": lambda: language_model("Mistral", num_key_value_heads=2),
    "gpt-oss": lambda: language_model(
        "GptOss", num_key_value_heads=2, head_dim=32, num_local_experts=4, num_experts_per_tok=2
    ),
    "gpt2": gpt2,
    "t5": t5,
    "bert": bert,
    "vit": vit,
    "clip": clip,
    "whisper": whisper,
    "mamba": mamba,
}


def gradient_of(model: torch.nn.Module, loss: torch.Tensor) -> torch.Tensor:
    """All gradients in one vector."""
    model.zero_grad()
    loss.backward()
    return torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])
