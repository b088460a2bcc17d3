"""The index of small and middle libraries in the memory of this process."""
