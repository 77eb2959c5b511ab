"""Adapters to other libraries, one module each; importing a module imports its library."""
