"""PAIChecker's engine: a pull request-issue pair in, a proved report out. Read `pipeline.check` first."""

__version__ = "0.1.0"
