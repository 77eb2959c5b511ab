"""The commands, a file each: they parse, call the library and print."""
