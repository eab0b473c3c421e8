"""Reading and writing the formats in which pull request-issue pairs are kept."""
