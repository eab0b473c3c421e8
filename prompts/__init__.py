"""One Markdown file per model role. Text only; `checker.prompting` renders it."""
