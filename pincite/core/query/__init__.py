"""The data of one question: question, plan, hits, prompt, answer."""
