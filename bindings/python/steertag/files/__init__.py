"""Commands on remote files: `steertag cp` and `steertag ls`."""
