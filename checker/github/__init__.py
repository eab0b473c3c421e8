"""Reading GitHub: a pull request's address in, a complete pair out. It reads, and writes nothing."""
