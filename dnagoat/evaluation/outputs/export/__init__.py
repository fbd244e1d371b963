"""A run for other machines: a folder for Hugging Face's transformers, a single safetensors file, and back."""
