"""The launcher of bubblewrap boxes and the profile they run in."""
