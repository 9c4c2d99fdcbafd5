"""What is measured. Nothing of the product imports this."""
