"""Cases for clients. The fixture `bench` comes from the plugin steertag.suite.plugin."""
