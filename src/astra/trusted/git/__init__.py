"""Raw git objects and refs of the trusted repository; nothing in them is interpreted."""
