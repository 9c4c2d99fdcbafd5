"""What a quota request says, checked and weighed: content, faults, what is held meanwhile, and how it is measured."""
