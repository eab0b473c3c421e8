"""A small GitHub on loopback, and the conversation that shows the App. It serves the tests, too."""
