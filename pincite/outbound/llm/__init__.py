"""What HTTP providers of language models share: messages, streams, tool calls."""
