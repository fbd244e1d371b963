"""What attention does inside a trained model."""
