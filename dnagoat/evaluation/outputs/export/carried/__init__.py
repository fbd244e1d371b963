"""What an exported folder has beside the model's own modules; `bundle` copies both with their imports rewritten."""
