"""What every room stands on. Imports none of them."""
