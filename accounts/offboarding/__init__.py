"""Off-boarding: one act that ends what a person may do. Each room says what ends in it and ends it (``steps``)."""
