"""What people can set: the environment (and `.env`), and the operator's signed `astra.toml`."""
