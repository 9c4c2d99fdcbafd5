"""What a decision is made on, by kind: numbers first, drawn and said afterwards."""
