"""Cases for servers. The fixture `bench` comes from the plugin steertag.suite.plugin."""
