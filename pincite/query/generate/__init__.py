"""Write the answer: assemble the prompt, stream the model, filter its output."""
