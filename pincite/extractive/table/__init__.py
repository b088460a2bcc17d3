"""Tables without a language model: the cell asked for, the rows that fit, and values computed from all rows."""
