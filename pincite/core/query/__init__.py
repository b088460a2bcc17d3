"""The values of one question: question, plan, hits, prompt, answer."""
