"""Which features, patches and largest k stand out from noise, with one error for all of them together."""
