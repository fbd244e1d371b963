"""What one optimizer step is made of: loss, precision, optimizer, schedule."""
