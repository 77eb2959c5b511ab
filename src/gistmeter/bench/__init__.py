"""How well metrics agree with human judgements."""
