"""One file a command: it parses, builds, calls the library and draws."""
