"""Options of each command: a frozen dataclass, and the parser that fills it."""
