"""How a model is asked for code: in small questions, in the format that works for it."""
