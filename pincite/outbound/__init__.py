"""What providers of outside services share: the only room that calls out."""
