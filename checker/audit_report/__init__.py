"""The results of an audit as one page that works without a network, and as Markdown (`docs/report.md`)."""
