"""The GitHub App: a delivery in, one comment out. It imports `checker`, never the other way round."""
